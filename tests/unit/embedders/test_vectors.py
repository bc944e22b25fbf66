"""What is done to vectors after a model gave them."""

from __future__ import annotations

import numpy as np
import pytest

from transforms.embedders.registry import make_embedder, recipe
from transforms.embedders.settings import OpenAISettings, StaticSettings
from transforms.embedders.share import ALONE, Share, usable_cores
from transforms.embedders.usage import Usage
from transforms.embedders.vectors import as_bits, as_int8, finished

ROWS = np.array([[3, -4, 0, 1], [0, 0, 0, 5], [np.nan, 1, 1, 1]], dtype=np.float32)


def test_the_first_numbers_are_kept_and_scaled_to_length_one():
    found = finished(ROWS, 2, normalise=True)
    np.testing.assert_allclose(found[0], [0.6, -0.8])
    assert np.isnan(found[1:]).all()
    assert finished(ROWS, 2, normalise=False)[0].tolist() == [3, -4]
    assert ROWS.shape == (3, 4)


def test_int8_keeps_directions_and_uses_its_whole_range():
    assert as_int8(ROWS[:1]).tolist() == [[95, -127, 0, 32]]
    vectors = make_embedder(StaticSettings()).embed(["the wheel of a rover", "a servo"])
    small = as_int8(vectors).astype(np.float64)
    cosines = (
        (small * vectors).sum(axis=1) / np.linalg.norm(small, axis=1) / np.linalg.norm(vectors, axis=1)
    )
    assert cosines.min() > 0.9999


def test_a_vector_has_the_same_int8_in_any_batch():
    vectors = make_embedder(StaticSettings()).embed(["the wheel of a rover", "a servo"])
    assert as_int8(vectors)[1].tobytes() == as_int8(vectors[1:])[0].tobytes()


def test_bits_say_which_numbers_are_above_zero_the_first_in_the_highest_bit():
    assert as_bits(ROWS[:2]).tolist() == [[0b10010000], [0b00010000]]
    nine = np.array([[1, 0, 0, 0, 0, 0, 0, 0, 1]], dtype=np.float32)
    assert as_bits(nine).tolist() == [[0b10000000, 0b10000000]]


def test_stored_forms_are_part_of_the_recipe_and_not_of_the_models_name():
    base = OpenAISettings(preset="vllm", base_url="http://host/v1", model="m", dimension=8)
    more = base.model_copy(update={"also_store": ("int8", "bits")})
    assert recipe(more) == recipe(base) + " stored:bits,int8"
    assert make_embedder(more).name == make_embedder(base).name


@pytest.mark.parametrize("bad", [{"ask_dimension": True}, {"model_dimension": 4}])
def test_who_shortens_vectors_must_be_clear(bad):
    values = {
        "preset": "vllm",
        "base_url": "http://h/v1",
        "model": "m",
        "dimension": 8,
        "model_dimension": 16,
    }
    with pytest.raises(ValueError, match="model_dimension"):
        OpenAISettings(**values | bad)


def test_a_share_is_a_part_of_quotas_and_cores():
    assert (ALONE.of(600), Share(4).of(600), Share(4).of(None)) == (600, 150, None)
    assert ALONE.cores == usable_cores() >= Share(10_000).cores == 1


def test_a_model_that_no_quota_concerns_is_built_once_whatever_the_share():
    assert make_embedder(StaticSettings(), Share(3)) is make_embedder(StaticSettings())


def test_a_server_that_counts_fewer_tokens_than_it_should_is_told_of_once():
    usage = Usage(exact=True)
    usage.compare(14, 10, 2)
    usage.compare(34, 30, 2)
    assert usage.notices() == []
    usage.compare(33, 30, 2)
    usage.compare(20, 30, 2)
    (sentence,) = usage.notices()
    assert sentence.startswith("The server counted 33 tokens where 34 were sent")
    assert usage.notices() == []


def test_a_tokenizer_that_is_not_quite_the_servers_is_no_fault_but_fewer_tokens_are():
    usage = Usage(exact=True)
    for counted in (14, 15, 17, 13):
        usage.compare(counted, 10, 2)
    assert usage.notices() == []
    usage.compare(9, 10, 2)
    assert len(usage.notices()) == 1


def test_counts_of_bytes_say_nothing_about_cuts():
    usage = Usage(exact=False)
    usage.compare(3, 10, 1)
    assert usage.notices() == []

"""The embedded model: what its card promises, to the bit."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import transforms.embedders.static as module
from transforms.embedders.files import read_pinned
from transforms.embedders.registry import make_embedder, recipe
from transforms.embedders.settings import StaticSettings
from transforms.model.errors import ParquetryError

FOLDER = Path(module.__file__).parent / "data" / "static-en-256"
EMBEDDER = make_embedder(StaticSettings())
TEXTS = st.lists(st.text(st.sampled_from("abe rst.\n☃é0"), max_size=40), min_size=1, max_size=8)


def bits(vectors) -> list[str]:
    return [row.tobytes().hex() for row in vectors]


def from_the_card(text: str) -> np.ndarray:
    """The card's rule in the plainest code: one row after the other, in float64."""
    with np.load(FOLDER / "model.npz") as model:
        table, scale = model["table"], model["scale"]
    encoding = EMBEDDER.counter._tokenizer.encode(text, add_special_tokens=False)
    rows = [
        table[number].astype(np.float64) * np.float64(scale[number])
        for number, token in zip(encoding.ids, encoding.tokens, strict=True)
        if token != "[UNK]"
    ]
    mean = np.sum(rows, axis=0) / len(rows)
    return (mean / np.sqrt(np.sum(mean * mean))).astype(np.float32)


def test_a_text_is_embedded_as_the_card_says():
    text = "How do I calibrate the corner servos? ☃ Naïve, 12.5 V"
    assert bits(EMBEDDER.embed([text])) == bits([from_the_card(text)])


def test_a_text_longer_than_one_sum_is_embedded_as_the_card_says():
    text = "the rover drives over rocks " * 900
    np.testing.assert_allclose(EMBEDDER.embed([text])[0], from_the_card(text), rtol=1e-6)


def test_vectors_are_float32_rows_of_length_one_in_the_order_given():
    vectors = EMBEDDER.embed(["a wheel", "a servo", "a wheel"])
    assert (vectors.shape, vectors.dtype) == ((3, 256), np.float32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    assert bits(vectors)[0] == bits(vectors)[2] != bits(vectors)[1]


@pytest.mark.parametrize("text", ["", " \n\t", "☃", "ꙮ ☃"])
def test_a_text_of_which_no_piece_is_known_has_a_row_of_nan_and_shifts_no_other(text):
    before, row, after = EMBEDDER.embed(["a wheel", text, "a servo"])
    assert np.isnan(row).all()
    assert bits([before, after]) == bits(EMBEDDER.embed(["a wheel", "a servo"]))


@given(TEXTS, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=60)
def test_a_text_has_the_same_bits_alone_and_in_any_batch_in_any_order(texts, chance):
    order = list(range(len(texts)))
    chance.shuffle(order)
    shuffled = bits(EMBEDDER.embed([texts[place] for place in order] * 3))
    alone = [bits(EMBEDDER.embed([texts[place]]))[0] for place in order]
    assert shuffled == alone * 3


@given(st.permutations(range(40)))
@settings(deadline=None, max_examples=30)
def test_the_sum_is_exact_so_that_no_order_of_adding_changes_a_bit(order):
    words = ["wheel", "servo", "bolt", "nut", "the", "a", "of", "rock", "rover", "arm", "mast", "sun"]
    text = [words[place % len(words)] for place in range(40)]
    mixed = [text[place] for place in order]
    assert bits(EMBEDDER.embed([" ".join(mixed)])) == bits(EMBEDDER.embed([" ".join(text)]))


def test_every_product_of_the_table_is_small_enough_for_exact_sums():
    scale = np.load(FOLDER / "model.npz")["scale"].astype(np.float64)
    assert np.array_equal(scale * 2.0**39, np.round(scale * 2.0**39))
    assert 127 * scale.max() < 2.0**3


def test_no_batch_is_an_array_without_rows():
    assert EMBEDDER.embed([]).shape == (0, 256)


def test_near_texts_are_nearer_than_far_ones():
    question, near, far = EMBEDDER.embed(
        ["how to charge the battery", "charging the battery pack", "a poem about the sea"]
    )
    assert question @ near > question @ far


def test_the_counter_counts_pieces_without_special_tokens_and_places_them_in_code_points():
    assert EMBEDDER.counter.count(["", "hello world", "😀 servos"]) == [0, 2, 3]
    text = "😀 naïve servos"
    spans = EMBEDDER.counter.offsets(text)
    assert [text[start:end] for start, end in spans] == ["😀", "naïve", "ser", "vos"]


@given(st.text(max_size=60))
@settings(deadline=None, max_examples=60)
def test_count_and_offsets_agree_on_any_text(text):
    spans = EMBEDDER.counter.offsets(text)
    assert EMBEDDER.counter.count([text]) == [len(spans)]
    assert all(0 <= start <= end <= len(text) for start, end in spans)


def test_the_recipe_names_the_model_and_the_hashes_of_its_files():
    hashes = {
        name: hashlib.sha256((FOLDER / name).read_bytes()).hexdigest()
        for name in ("model.npz", "tokenizer.json")
    }
    assert recipe(StaticSettings()) == (
        f"static-en-256@1 model.npz:{hashes['model.npz']} tokenizer.json:{hashes['tokenizer.json']} "
        "task:none dimension:256"
    )


def test_a_file_of_the_model_that_is_not_the_one_in_the_recipe_is_refused(tmp_path):
    other = tmp_path / "tokenizer.json"
    other.write_text(json.dumps({}))
    with pytest.raises(ParquetryError, match=r"tokenizer\.json is not the one expected"):
        read_pinned(other, "0" * 64)
    with pytest.raises(ParquetryError, match="cannot be read: No such file"):
        read_pinned(tmp_path / "model.npz", "0" * 64)

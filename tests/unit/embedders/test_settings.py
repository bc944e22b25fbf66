"""Settings, the registry and the embedder without a model."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from pydantic import ValidationError

from transforms.embedders.registry import make_embedder, recipe
from transforms.embedders.settings import (
    HashSettings,
    StaticSettings,
    settings_from_json,
    settings_to_json,
)


@pytest.mark.parametrize("settings", [StaticSettings(), HashSettings(dimension=8, max_tokens=100)])
def test_settings_come_back_from_their_json(settings):
    assert settings_from_json(settings_to_json(settings)) == settings


@pytest.mark.parametrize("text", ["{}", '{"kind": "statik"}', '{"kind": "static", "dimension": 3}'])
def test_an_unknown_kind_or_key_is_refused(text):
    with pytest.raises(ValidationError):
        settings_from_json(text)


def test_threads_that_ask_at_once_get_the_same_embedder():
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: make_embedder(HashSettings(dimension=12)), range(32)))
    assert len({id(embedder) for embedder in made}) == 1


def test_equal_settings_share_an_embedder_and_others_do_not():
    assert make_embedder(StaticSettings()) is make_embedder(StaticSettings())
    assert make_embedder(HashSettings(dimension=8)) is not make_embedder(HashSettings(dimension=9))


def test_hash_vectors_are_the_same_on_every_machine():
    embedder = make_embedder(HashSettings(dimension=4))
    vectors = embedder.embed(["a", "b", " ", ""])
    assert vectors.shape == (4, 4)
    assert np.isnan(vectors[2:]).all()
    np.testing.assert_allclose(np.linalg.norm(vectors[:2], axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(vectors[0], [0.709167, -0.447421, 0.506185, -0.201679], atol=1e-6)


def test_hash_counts_four_characters_a_token():
    counter = make_embedder(HashSettings()).counter
    assert (counter.name, counter.count(["", "abcd", "abcde"])) == ("chars/4", [0, 1, 2])
    assert counter.offsets("abcdef") == [(0, 4), (4, 6)]


def test_the_recipe_of_hash_names_its_dimension_and_not_its_bound():
    assert recipe(HashSettings(dimension=8, max_tokens=9)) == "hash-8@1 task:none dimension:8"


def test_settings_import_no_model_and_building_one_respects_the_users_environment():
    code = (
        "import os, sys\n"
        "import transforms.embedders.settings as settings, transforms.embedders.registry as registry\n"
        "assert not {'numpy', 'tokenizers', 'pyarrow'} & set(sys.modules)\n"
        "assert os.environ['TOKENIZERS_PARALLELISM'] == 'true'\n"
        "registry.make_embedder(settings.StaticSettings())\n"
        "assert os.environ['TOKENIZERS_PARALLELISM'] == 'true'\n"
    )
    environment = {**os.environ, "TOKENIZERS_PARALLELISM": "true"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)

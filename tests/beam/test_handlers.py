"""Beam's own handlers and managers as embedders: real subclasses of its classes around a model of ours."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest
from apache_beam.ml.inference.base import ModelHandler, PredictionResult
from apache_beam.ml.transforms.base import EmbeddingsManager

from transforms.embedders import beam as module
from transforms.embedders.batching import embed_distinct
from transforms.embedders.registry import make_embedder
from transforms.embedders.settings import BeamSettings, StaticSettings
from transforms.model.errors import ConfigError, ParquetryError

MODEL = make_embedder(StaticSettings())
TEXTS = ["the wheel", "a servo of the arm", "rock", "the wheel"]


class Handler(ModelHandler):
    """Yields what handlers of Beam yield, in one of its ways."""

    def __init__(self, wrap=lambda text, vector: vector) -> None:
        super().__init__()
        self.wrap = wrap
        self.batches: list[int] = []
        self.arguments: list[object] = []

    def load_model(self):
        return MODEL

    def run_inference(self, batch, model, inference_args=None):
        self.batches.append(len(batch))
        self.arguments.append(inference_args)
        return [self.wrap(text, vector) for text, vector in zip(batch, model.embed(batch), strict=True)]


def failing(text, vector, fails):
    if fails(text):
        raise ValueError(f"cannot embed {text!r}")
    return vector


class Manager(EmbeddingsManager):
    def get_model_handler(self):
        return BARE

    def get_ptransform_for_processing(self, **kwargs):
        raise NotImplementedError


BARE = Handler()
RESULTS = Handler(lambda text, vector: PredictionResult(text, vector.tolist()))
SHORT = Handler(lambda text, vector: vector[:3])
FAILING = Handler(lambda text, vector: failing(text, vector, lambda text: "servo" in text))
BROKEN = Handler(lambda text, vector: failing(text, vector, lambda text: True))
MANAGER = Manager(columns=["text"], inference_args={"normalize": False})
NOTHING = 3


def make_manager() -> Manager:
    return MANAGER


def settings(name: str, **more) -> BeamSettings:
    values = {"handler": f"{__name__}:{name}", "model": "mine@1", "dimension": 256, "batch_items": 2}
    return BeamSettings(**values | more)


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """The module under its name, as on a worker where it is installed."""
    module_of_tests = types.ModuleType(__name__)
    module_of_tests.__dict__.update(globals())
    monkeypatch.setitem(sys.modules, __name__, module_of_tests)


@pytest.mark.parametrize("name", ["BARE", "RESULTS", "MANAGER", "make_manager"])
def test_a_handler_a_manager_or_what_makes_one_embeds(name):
    vectors = embed_distinct(module.build(settings(name)), TEXTS)
    assert vectors.tobytes() == MODEL.embed(TEXTS).tobytes()


def test_texts_come_in_batches_of_the_configured_size_with_the_managers_arguments():
    BARE.batches.clear()
    BARE.arguments.clear()
    module.build(settings("MANAGER")).embed(TEXTS)
    assert BARE.batches == [2, 2]
    assert BARE.arguments == [{"normalize": False}] * 2


def test_long_texts_are_split_and_prefixes_are_put_before_them():
    embedder = module.build(settings("BARE", max_tokens=30, document_prefix="passage: "))
    assert embedder.max_tokens == 21
    (vector,) = embedder.embed(["wheel " * 5])
    parts = MODEL.embed(["passage: " + "wheel " * 2 + "whe", "passage: el " + "wheel " * 2])
    np.testing.assert_allclose(vector, parts.mean(axis=0), atol=1e-6)


def test_vectors_of_another_length_than_configured_are_one_sentence():
    with pytest.raises(ParquetryError, match=r"gave an array of shape \(2, 3\) for 2 texts; \(2, 256\)"):
        module.build(settings("SHORT")).embed(TEXTS)


def test_one_text_that_a_model_raises_for_fails_alone_among_a_thousand():
    texts = [f"rock {n}" for n in range(999)]
    texts.insert(500, "a servo of the arm")
    embedder = module.build(settings("FAILING", batch_items=64))
    vectors = embed_distinct(embedder, texts)
    good = [place for place in range(1000) if place != 500]
    assert vectors[good].tobytes() == MODEL.embed([texts[place] for place in good]).tobytes()
    assert np.isnan(vectors[500]).all()
    assert embedder.refusal(texts[500]) == (
        "model_failed",
        "ValueError: cannot embed 'a servo of the arm'",
    )
    assert embedder.refusal(texts[499]) is None


def test_a_model_that_raises_for_every_text_ends_the_run_in_one_sentence():
    with pytest.raises(ParquetryError, match="refuses every text: ValueError: cannot embed 'rock'"):
        module.build(settings("BROKEN")).embed(TEXTS)


@pytest.mark.parametrize("name", ["NOTHING", "missing"])
def test_what_is_no_handler_is_named(name):
    with pytest.raises(ConfigError, match=name):
        module.build(settings(name))


def test_a_module_that_is_not_there_is_named():
    with pytest.raises(ConfigError, match="not_there:handler cannot be imported"):
        module.build(BeamSettings(handler="not_there:handler", model="m", dimension=3))


def test_the_recipe_is_of_the_model_and_not_of_the_handler():
    one, other = settings("BARE"), settings("MANAGER", batch_items=7)
    assert module.recipe(one) == module.recipe(other)
    assert module.recipe(settings("BARE", model="mine@2")) != module.recipe(one)
    assert np.all(module.build(one).embed(["x"]) == module.build(other).embed(["x"]))

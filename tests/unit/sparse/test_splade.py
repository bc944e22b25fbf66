"""A masked language model as a sparse encoder: its greatest outputs, token by token, whatever the length."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from transforms.model.errors import ParquetryError
from transforms.sparse.registry import make_sparse, sparse_recipe
from transforms.sparse.settings import SpladeSettings

pytest.importorskip("onnx", reason="onnx, which builds the model, is not installed")
pytest.importorskip("onnxruntime", reason="the extra `minilm` is not installed")

from tests.support.tiny_splade import LOGITS, WORDS, write_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "tiny-splade"
    write_model(folder)
    return folder


def encoder_of(folder, **more):
    return make_sparse(SpladeSettings(model_path=str(folder), **{"max_tokens": 16, **more}))


def rows(vectors):
    """Each text's word pieces with their weights."""
    pairs = zip(vectors.indices.tolist(), vectors.values.tolist(), strict=True)
    named = [(WORDS[one], round(weight, 4)) for one, weight in pairs]
    return [named[start:end] for start, end in pairwise(vectors.offsets.tolist())]


def test_a_piece_has_the_logarithm_of_its_greatest_output_and_none_where_that_is_not_over_zero(folder):
    encoder = encoder_of(folder)
    vectors = encoder.encode(["pump runs", "a pump dry", "", "runs"])
    assert rows(vectors) == [
        [("pump", 1.0), ("runs", 2.0), ("dry", 0.5)],
        [("pump", 1.0), ("dry", 1.0)],
        [],
        [("runs", 2.0)],
    ]
    assert (vectors.indices.dtype, vectors.values.dtype) == (np.uint32, np.float32)
    assert not encoder.weighed


def test_a_text_over_the_input_has_the_greatest_weights_of_its_parts(folder):
    whole, parts = encoder_of(folder), encoder_of(folder, max_tokens=8)
    text = "a a a a a a pump a a a a a a a runs a"
    assert rows(parts.encode([text])) == [[("pump", 1.0), ("runs", 2.0), ("dry", 0.5)]]
    assert rows(whole.query(text)) == rows(parts.query(text))


def test_a_text_has_the_same_bits_alone_and_in_any_batch_on_any_number_of_cores(folder):
    texts = ["pump", "runs dry", "a pump runs dry", "dry"]
    together = encoder_of(folder, threads=3).encode(texts)
    alone = [encoder_of(folder).encode([text]) for text in texts]
    assert together.values.tobytes() == b"".join(one.values.tobytes() for one in alone)
    assert together.indices.tobytes() == b"".join(one.indices.tobytes() for one in alone)


def test_the_recipe_names_the_files_by_their_content_and_the_name_has_its_fingerprint(folder):
    recipe = sparse_recipe(SpladeSettings(model_path=str(folder), max_tokens=16))
    assert recipe.startswith("splade@1 tiny-splade model.onnx:")
    assert sparse_recipe(SpladeSettings(model_path=str(folder), max_tokens=16, threads=2)) == recipe
    names = {encoder_of(folder).name, encoder_of(folder, max_tokens=8).name}
    assert len(names) == 2
    assert all(name.startswith("splade@1-") for name in names)


def test_what_is_no_such_model_is_refused_in_a_sentence(tmp_path):
    with pytest.raises(ParquetryError, match=r"must hold tokenizer\.json and model\.onnx"):
        encoder_of(tmp_path)
    write_model(tmp_path, LOGITS[:, 0])
    with pytest.raises(ParquetryError, match="no masked language model's export"):
        encoder_of(tmp_path)

"""Texts go through an embedder once each and come back in their places, whatever it does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.embedders.batching import embed_distinct
from transforms.embedders.hashed import CharCounter
from transforms.model.errors import ParquetryError


class Suspicious:
    """Gives a text its length, its first letter's number and 1; refuses what no caller should send."""

    name = "suspicious@1"
    dimension = 3
    max_tokens = None
    batch_items = 256
    counter = CharCounter()

    def __init__(self, items: int = 1000, tokens: int = 10**9) -> None:
        self.seen: list[str] = []
        self.batches: list[list[str]] = []
        self._items, self._tokens = items, tokens

    def embed(self, texts, task="document"):
        sizes = [len(text) for text in texts]
        assert texts, "an empty batch"
        assert sizes == sorted(sizes), "a batch that is not in order of length"
        assert not set(texts) & set(self.seen), "a text is paid for twice"
        assert len(texts) <= self._items
        assert len(texts) == 1 or sum(self.counter.count(texts)) <= self._tokens
        self.seen += texts
        self.batches.append(list(texts))
        return np.array([vector_of(text) for text in texts], dtype=np.float32)


def vector_of(text: str) -> list[float]:
    return [float(len(text)), float(ord(text[0])) if text else 0.0, 1.0]


@given(st.lists(st.text("abcdef", max_size=12)), st.integers(1, 5), st.none() | st.integers(1, 9))
def test_each_text_is_sent_once_and_every_place_has_its_own_row(texts, items, tokens):
    embedder = Suspicious(items, tokens or 10**9)
    vectors = embed_distinct(embedder, texts, items, tokens)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(texts), 3)
    assert vectors.tolist() == [vector_of(text) for text in texts]
    assert sorted(embedder.seen) == sorted(set(texts))


def test_batches_hold_neighbours_in_length_up_to_both_bounds():
    embedder = Suspicious()
    embed_distinct(embedder, ["a" * 40, "b", "c" * 8, "d" * 8, "e" * 4], 3, 4)
    assert embedder.batches == [["b", "e" * 4, "c" * 8], ["d" * 8], ["a" * 40]]


class Returns(Suspicious):
    def __init__(self, rows) -> None:
        super().__init__()
        self._rows = np.array(rows, dtype=np.float32)

    def embed(self, texts, task="document"):
        return self._rows


def test_zeros_and_numbers_that_are_not_finite_are_no_vector_and_shift_no_other():
    rows = [[1, 2, 3], [0, 0, 0], [np.inf, 1, 1], [np.nan, 1, 1], [4, 5, 6]]
    vectors = embed_distinct(Returns(rows), list("abcde"))
    assert vectors[[0, 4]].tolist() == [[1, 2, 3], [4, 5, 6]]
    assert np.isnan(vectors[1:4]).all()


@pytest.mark.parametrize("rows", [[[1, 2, 3]], [[1, 2, 3]] * 3, [[1, 2]] * 2, [1, 2]])
def test_another_count_or_dimension_than_promised_is_an_error_that_names_both(rows):
    with pytest.raises(ParquetryError, match=r"suspicious@1 gave .* for 2 texts; \(2, 3\)"):
        embed_distinct(Returns(rows), ["a", "b"])


def test_one_vector_for_many_texts_that_differ_is_an_error():
    texts = [f"this is text {n}" for n in range(8)]
    with pytest.raises(ParquetryError, match="suspicious@1 gave one and the same vector for 8 texts"):
        embed_distinct(Returns([[1.0, 2.0, 3.0]] * 8), texts)
    assert embed_distinct(Returns([[1.0, 2.0, 3.0]] * 8), [f"- {n}" for n in range(8)]).shape == (8, 3)

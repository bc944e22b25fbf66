"""Which terms tell a chunk from others."""

import numpy as np
import pytest

from pipeline.terms import Term, telling_terms
from transforms.sparse.columns import to_columns
from transforms.sparse.registry import make_sparse
from transforms.sparse.settings import BM25Settings
from transforms.sparse.statistics import counted

TEXTS = ["the pump and the valve", "the pump", "the radio"]
ENCODER = make_sparse(BM25Settings())


def vector_of(text):
    found = ENCODER.encode([text])
    return dict(zip(found.indices.tolist(), found.values.tolist(), strict=True))


def test_a_rare_term_stands_before_one_that_many_chunks_have():
    statistics = counted([to_columns(ENCODER.encode(TEXTS))["sparse_indices"]])
    found = telling_terms(vector_of(TEXTS[0]), TEXTS[0], ENCODER, statistics, most=3)
    assert [one.term for one in found] == ["and", "valv", "pump"]
    # BM25's term part for one of five terms, times log(1 + (3 - 1 + 0.5) / (1 + 0.5)).
    part = 2.2 / (1 + 1.2 * (1 - 0.75 + 0.75 * 5 / 180))
    assert found[0].weight == pytest.approx(part * np.log(1 + 2.5 / 1.5), rel=1e-6)


def test_without_frequencies_a_term_weighs_what_the_vector_says():
    vector = vector_of("pump pump valve")
    found = telling_terms(vector, "pump pump valve", ENCODER, None, most=1)
    assert found == (Term("pump", max(vector.values())),)


def test_a_term_that_the_text_does_not_name_is_told_by_its_number():
    assert telling_terms({7: 1.5}, "", ENCODER, None, most=8) == (Term("#7", 1.5),)

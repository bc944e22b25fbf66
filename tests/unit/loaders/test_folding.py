"""Sparse vectors in fewer dimensions."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from transforms.loaders.folding import folded


def fold(rows, dimensions):
    offsets = np.cumsum([0, *map(len, rows)])
    indices = np.array([term for row in rows for term in row], np.uint32)
    values = np.array([value for row in rows for value in row.values()], np.float32)
    offsets, places, values = folded(offsets, indices, values, dimensions)
    pairs = list(zip(places.tolist(), values.tolist(), strict=True))
    return [pairs[first:end] for first, end in pairwise(offsets)]


def test_an_id_is_taken_modulo_the_dimensions_and_places_ascend():
    rows = [{7: 0.5, 4_000_000_001: 1.0}, {}, {999_999_999: 2.0, 1_000_000_000: 3.0}]
    assert fold(rows, 1_000_000_000) == [[(1, 1.0), (7, 0.5)], [], [(0, 3.0), (999_999_999, 2.0)]]


def test_values_that_meet_in_one_row_are_added_and_those_of_other_rows_are_not():
    assert fold([{1: 0.5, 11: 1.0, 21: 2.0}, {1: 4.0}], 10) == [[(1, 3.5)], [(1, 4.0)]]


def test_what_adds_up_to_nothing_is_left_out():
    assert fold([{1: 0.5, 2: 1.0, 11: -0.5}, {1: -1.0, 11: 1.0}], 10) == [[(2, 1.0)], []]


@given(
    st.lists(st.dictionaries(st.integers(0, 60), st.integers(1, 9), max_size=9), max_size=6),
    st.integers(1, 70),
)
def test_the_inner_product_with_a_question_that_is_folded_too_is_that_of_whoever_meets(rows, dimensions):
    rows = [dict(sorted(row.items())) for row in rows]
    question = fold([dict.fromkeys(range(0, 60, 3), 1.0)], dimensions)[0]
    for row, pairs in zip(rows, fold(rows, dimensions), strict=True):
        meets = dict(question)
        expected = sum(meets.get(term % dimensions, 0.0) * value for term, value in row.items())
        assert sum(meets.get(place, 0.0) * value for place, value in pairs) == expected

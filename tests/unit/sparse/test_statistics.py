"""Frequencies of terms: counted in parts, put together and taken apart again."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.model.errors import ParquetryError
from transforms.sparse.statistics import NO_TERMS, TermStatistics, counted, summed
from transforms.table.schema import CHUNKS

KIND = CHUNKS.field("sparse_indices").type
rows = st.lists(
    st.none() | st.sets(st.integers(0, 2**32 - 2) | st.integers(0, 5), max_size=6).map(sorted), max_size=8
)


def of(vectors):
    return counted([pa.array(vectors, KIND)])


def plain(statistics):
    pairs = zip(statistics.ids.tolist(), statistics.frequencies.tolist(), strict=True)
    return statistics.chunks, list(pairs)


def test_a_term_is_counted_once_a_chunk_and_a_chunk_without_a_vector_not_at_all():
    statistics = of([[1, 7], None, [], [7, 4294967294]])
    assert plain(statistics) == (3, [(1, 1), (7, 2), (4294967294, 1)])
    assert (statistics.ids.dtype, statistics.frequencies.dtype) == (np.uint32, np.int64)
    assert plain(counted([])) == plain(NO_TERMS) == (0, [])


@given(st.lists(rows, max_size=5))
def test_parts_counted_one_by_one_are_all_counted_at_once(parts):
    together = of([row for part in parts for row in part])
    assert plain(summed(map(of, parts))) == plain(together)
    assert plain(counted(pa.array(part, KIND) for part in parts)) == plain(together)


def test_much_is_put_together_piece_by_piece(monkeypatch):
    monkeypatch.setattr("transforms.sparse.statistics._AT_ONCE", 3)
    parts = [of([[n, n + 1], [n]]) for n in range(50)]
    assert plain(summed(parts)) == plain(of([row for n in range(50) for row in ([n, n + 1], [n])]))


@given(rows, rows, rows)
def test_what_left_and_what_came_is_a_full_count_of_what_is_there(stays, leaves, comes):
    before, after = of(stays + leaves), of(comes + stays)
    assert plain(before.add(of(comes)).subtract(of(leaves))) == plain(after)


def test_what_is_not_there_cannot_be_taken_away():
    with pytest.raises(ParquetryError, match="not there"):
        of([[1]]).subtract(of([[2]]))
    with pytest.raises(ParquetryError, match="not there"):
        of([[1]]).subtract(of([[1], []]))


def test_rare_terms_count_for_more_and_one_that_no_chunk_has_for_most():
    statistics = TermStatistics(10, np.array([3, 8], np.uint32), np.array([9, 1]))
    found = statistics.idf(np.array([8, 3, 5, 9], np.uint32))
    wanted = [math.log(1 + (10 - n + 0.5) / (n + 0.5)) for n in (1, 9, 0, 0)]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert (found > 0).all()
    assert NO_TERMS.idf(np.array([1], np.uint32)).tolist() == [np.float32(math.log(2))]

"""Batches on their way to a store: all rows, in order, read ahead."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.loaders.stream import ahead, batched


def tables(sizes):
    first = 0
    for size in sizes:
        yield pa.table({"n": pa.array(range(first, first + size), pa.int64())})
        first += size


@given(st.lists(st.integers(0, 40), max_size=12), st.integers(1, 20))
def test_batches_have_all_rows_in_order_and_never_too_many(sizes, rows):
    batches = list(batched(tables(sizes), rows))
    assert [n for batch in batches for n in batch["n"].to_pylist()] == list(range(sum(sizes)))
    assert all(0 < batch.num_rows <= rows for batch in batches)


def test_small_tables_are_joined():
    assert [batch.num_rows for batch in batched(tables([1] * 20), 64)] == [8, 8, 4]


def test_tables_are_joined_whose_files_differ_in_what_may_be_null():
    never = pa.schema([pa.field("n", pa.int64(), nullable=False)])
    parts = [pa.table([[1]], schema=never), pa.table({"n": pa.array([None], pa.int64())})]
    assert [batch["n"].to_pylist() for batch in batched(parts, 64)] == [[1, None]]


def test_what_fails_ahead_is_raised_in_its_place():
    def failing():
        yield 1
        yield 2
        raise ZeroDivisionError

    coming = ahead(failing())
    assert [next(coming), next(coming)] == [1, 2]
    with pytest.raises(ZeroDivisionError):
        next(coming)

"""How a source is divided into parts by the names of its objects."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from transforms.planning.partition import divided, part_count, part_of


@given(st.lists(st.text(max_size=30), max_size=50), st.integers(2, 9))
def test_a_name_is_in_the_same_part_whatever_stands_around_it(names, count):
    together = part_of(pa.chunked_array([pa.array(names, pa.string())]), count).tolist()
    alone = [int(part_of(pa.chunked_array([[name]]), count)[0]) for name in names]
    assert together == alone
    assert all(0 <= part < count for part in together)


def test_names_that_end_alike_are_spread_evenly():
    names = pa.chunked_array([[f"folder-{n}/index.html" for n in range(20_000)]])
    counts = np.bincount(part_of(names, 8))
    assert counts.min() > 2_200
    assert counts.max() < 2_800


def test_parts_hold_each_row_once_and_keep_the_order():
    table = pa.table({"object_name": [f"{n:04}" for n in range(1_000)]})
    parts = dict(divided(table, 3))
    rows = [name for part in parts.values() for name in part["object_name"].to_pylist()]
    assert sorted(rows) == table["object_name"].to_pylist()
    assert all(
        part["object_name"].to_pylist() == sorted(part["object_name"].to_pylist())
        for part in parts.values()
    )


def test_slices_of_a_column_hash_as_the_names_in_them():
    whole = pa.array([f"name {n}" for n in range(10)])
    assert (
        part_of(pa.chunked_array([whole.slice(4, 3)]), 5).tolist()
        == part_of(pa.chunked_array([whole]), 5)[4:7].tolist()
    )


def test_a_source_is_one_part_until_it_is_large():
    assert [part_count(n) for n in (0, 499_999, 500_000, 10**8)] == [1, 1, 2, 201]

"""Small operations on columns that Arrow has no single call for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Collection


def replace_column(table: pa.Table, name: str, array: pa.Array | pa.ChunkedArray) -> pa.Table:
    """The table with other values in one column; its field stays as it is."""
    place = table.schema.get_field_index(name)
    return table.set_column(place, table.schema.field(place), array)


def equal_rows(left: pa.Table, right: pa.Table, besides: Collection[str] = ()) -> pa.ChunkedArray:
    """Which rows of two tables of one schema and length are equal in every column but ``besides``.

    Null equals null; a number that is none equals nothing.
    """
    same = pa.chunked_array([pa.repeat(pa.scalar(value=True), left.num_rows)])
    for field in left.schema:
        if field.name not in besides:
            same = pc.and_(same, _equal(left[field.name], right[field.name], field.type))
    return same


def _equal(left: pa.ChunkedArray, right: pa.ChunkedArray, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    if pa.types.is_nested(kind):
        pairs = zip(left.to_pylist(), right.to_pylist(), strict=True)
        return pa.array([mine == theirs for mine, theirs in pairs], pa.bool_())
    both_null = pc.and_(left.is_null(), right.is_null())
    return pc.or_(both_null, pc.fill_null(pc.equal(left, right), fill_value=False))


def count_true(mask: pa.ChunkedArray) -> int:
    """How many rows a mask keeps; nulls are not kept."""
    return int(pc.sum(mask).as_py() or 0)


def sorted_by(table: pa.Table, *names: str) -> pa.Table:
    """The table in ascending order of columns; one that is in order already is not copied."""
    order = pc.sort_indices(table, sort_keys=[(name, "ascending") for name in names])
    return table if np.array_equal(order.to_numpy(), np.arange(len(order))) else table.take(order)

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


def completed(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table with all columns of a schema; one that an earlier version of the program did not write is null.

    Raises:
        KeyError: a column that may not be null is missing.
    """
    for field in schema:
        if field.name not in table.column_names:
            if not field.nullable:
                raise KeyError(f"the column {field.name} is missing")
            table = table.append_column(field, pa.nulls(table.num_rows, field.type))
    return table.select(schema.names).cast(schema)


def _equal(left: pa.ChunkedArray, right: pa.ChunkedArray, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    if pa.types.is_list(kind) and pa.types.is_primitive(kind.value_type):
        return _equal_lists(left.combine_chunks(), right.combine_chunks())
    if pa.types.is_nested(kind):
        pairs = zip(left.to_pylist(), right.to_pylist(), strict=True)
        return pa.array([mine == theirs for mine, theirs in pairs], pa.bool_())
    both_null = pc.and_(left.is_null(), right.is_null())
    return pc.or_(both_null, pc.fill_null(pc.equal(left, right), fill_value=False))


def _equal_lists(left: pa.ListArray, right: pa.ListArray) -> pa.Array:
    """Which rows have equal numbers in equal order, without an object a number."""
    mine, theirs = (pc.fill_null(pc.list_value_length(one), -1).to_numpy() for one in (left, right))
    same = mine == theirs
    alike = pa.array(same)
    numbers = pc.equal(left.filter(alike).flatten(), right.filter(alike).flatten())
    wrong = ~numbers.to_numpy(zero_copy_only=False)
    rows = np.repeat(np.flatnonzero(same), np.maximum(mine[same], 0))
    same[rows[wrong]] = False
    return pa.array(same)


def count_true(mask: pa.ChunkedArray) -> int:
    """How many rows a mask keeps; nulls are not kept."""
    return int(pc.sum(mask).as_py() or 0)


def sorted_by(table: pa.Table, *names: str) -> pa.Table:
    """The table in ascending order of columns; one that is in order already is not copied."""
    order = pc.sort_indices(table, sort_keys=[(name, "ascending") for name in names])
    return table if np.array_equal(order.to_numpy(), np.arange(len(order))) else table.take(order)

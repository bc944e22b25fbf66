"""Small operations on columns that Arrow has no single call for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc

if TYPE_CHECKING:
    import pyarrow as pa


def replace_column(table: pa.Table, name: str, array: pa.Array | pa.ChunkedArray) -> pa.Table:
    """The table with other values in one column; its field stays as it is."""
    place = table.schema.get_field_index(name)
    return table.set_column(place, table.schema.field(place), array)


def count_true(mask: pa.ChunkedArray) -> int:
    """How many rows a mask keeps; nulls are not kept."""
    return int(pc.sum(mask).as_py() or 0)

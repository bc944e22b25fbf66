"""From which stage on an object is made again: the most that any of its rows asks for, in whatever shards they are."""

from __future__ import annotations

from enum import IntEnum

import pyarrow as pa
import pyarrow.compute as pc


class Redo(IntEnum):
    """From which stage on the rows of an object whose bytes are the same are of another recipe."""

    NOTHING = 0
    SPARSE = 1
    """As ``EMBED``, but every dense vector is known."""
    EMBED = 2
    CHUNK = 3
    READ = 4


def one_row_an_object(table: pa.Table) -> pa.Table:
    """The most that is to be done of each object, or all if its versions differ; of its shards the first.

    Args:
        table: with the columns of ``planning.diff.KNOWN``, or all but ``shard``.
    """
    names = table["object_name"]
    if len(names.unique()) == len(names):
        return table
    first = [("shard", "min")] if "shard" in table.column_names else []
    greatest = [(name, "max") for name in ("size", "token", "checksum", "redo")]
    grouped = table.group_by("object_name", use_threads=False).aggregate(
        [*greatest, ("token", "min"), ("chosen", "any"), ("in_place", "all"), *first]
    )
    one_version = pc.equal(grouped["token_min"], grouped["token_max"])
    columns = {
        "object_name": grouped["object_name"],
        "size": grouped["size_max"],
        "token": grouped["token_min"],
        "checksum": grouped["checksum_max"],
        "redo": pc.if_else(one_version, grouped["redo_max"], int(Redo.READ)).cast(pa.int8()),
        "chosen": grouped["chosen_any"],
        "in_place": grouped["in_place_all"],
    }
    return pa.table(columns | {name: grouped[f"{name}_{how}"] for name, how in first})

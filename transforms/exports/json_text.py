"""Columns as JSON text, a column at a time: no Python object is made for a row or a number.

Numbers have the fewest digits that read back as the same 32-bit float. A null is left out of an object, since
several stores refuse it and none needs it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_COMMON = ("\\", '"', "\n", "\r", "\t")
_RARE = [chr(code) for code in range(0x20) if chr(code) not in _COMMON]


def json_column(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Each value as JSON text; a null stays null.

    Strings, booleans, integers, finite floats, dates and times (ISO 8601 strings), and lists of these.
    """
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    kind = array.type
    if pa.types.is_list(kind):
        return _lists(array)
    if pa.types.is_string(kind):
        return _quoted(_escaped(array))
    if pa.types.is_temporal(kind):
        return _quoted(pc.cast(array, pa.string()))
    return pc.cast(array, pa.string())


def json_objects(members: Mapping[str, pa.Array]) -> pa.Array:
    """One object a row from columns of JSON text; members that are null are left out."""
    named = (
        pc.binary_join_element_wise(f"{json.dumps(name)}:", text, "") for name, text in members.items()
    )
    return enclosed("{", named, "}")


def enclosed(before: str, items: Iterable[pa.Array], after: str) -> pa.Array:
    """The items of each row with commas between them; those that are null are left out."""
    # With a separator, rows that are all null would be lost.
    ended = (pc.binary_join_element_wise(item, ",", "") for item in items)
    joined = pc.binary_join_element_wise(before, *ended, "", null_handling="skip")
    return pc.binary_join_element_wise(pc.utf8_rtrim(joined, ","), after, "")


def without_empty_lists(column: pa.Array) -> pa.Array:
    """The column with null in place of lists that hold nothing."""
    if not pa.types.is_list(column.type):
        return column
    return pc.if_else(pc.equal(pc.list_value_length(column), 0), pa.scalar(None, column.type), column)


def text_lists(array: pa.Array, between: str) -> pa.Array:
    """Lists of text joined to one text each; a null list stays null."""
    return pc.binary_join(array, between)


def relisted(array: pa.Array, values: pa.Array) -> pa.Array:
    """The lists of ``array`` with other values in the same places; ``values`` are those of ``array.flatten()``."""
    lengths = pc.fill_null(pc.list_value_length(array), 0)
    ends = pc.cumulative_sum(lengths)
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), pc.cast(ends, pa.int32())])
    return pa.ListArray.from_arrays(offsets, values, mask=array.is_null())


def _lists(array: pa.Array) -> pa.Array:
    texts = relisted(array, json_column(array.flatten()))
    return pc.binary_join_element_wise("[", text_lists(texts, ","), "]", "")


def _quoted(array: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise('"', array, '"', "")


def _escaped(array: pa.Array) -> pa.Array:
    rare = pc.any(pc.match_substring_regex(array, "[\\x00-\\x1f]")).as_py()
    for character in (*_COMMON, *(_RARE if rare else ())):
        array = pc.replace_substring(array, character, json.dumps(character)[1:-1])
    return array

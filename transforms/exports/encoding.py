"""How several profiles write the same thing: members of JSON objects, lines, and lists of ids."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from transforms.exports.files import Cap, Frame, TextOutput
from transforms.exports.json_text import enclosed, json_column, json_objects, without_empty_lists
from transforms.exports.rules import ID, VECTOR

if TYPE_CHECKING:
    from collections.abc import Iterable


def in_json(kind: pa.DataType) -> bool:
    """Whether a column can be a member of metadata: texts, numbers, dates, lists of texts; no bytes or other lists."""
    if pa.types.is_list(kind):
        return bool(pa.types.is_string(kind.value_type))
    return not pa.types.is_binary(kind)


def members(batch: pa.RecordBatch, fields: Iterable[pa.Field]) -> dict[str, pa.Array]:
    """The columns as JSON text by name; null, or a list without values, is null."""
    return {field.name: json_column(without_empty_lists(batch[field.name])) for field in fields}


def json_ids(batch: pa.RecordBatch) -> pa.Array:
    """The ids as JSON text."""
    return json_column(batch[ID])


def json_vectors(batch: pa.RecordBatch) -> pa.Array:
    """The vectors as JSON text."""
    return json_column(batch[VECTOR])


def metadata_of(batch: pa.RecordBatch, columns: dict[str, pa.Array]) -> pa.Array:
    """One JSON object a row of columns of JSON text, be there none."""
    return json_objects(columns) if columns else pa.repeat(pa.scalar("{}"), batch.num_rows)


def lines(texts: pa.Array, **others: pa.Array) -> pa.RecordBatch:
    """Rows of text, and columns that rules look at."""
    return pa.RecordBatch.from_pydict({"line": texts, **others})


def id_lists(path: str, cap: Cap, frame: Frame) -> TextOutput:
    """Requests that name ids, as JSON strings, in a list."""
    return TextOutput(path, lambda batch: lines(json_ids(batch)), cap, frame)


def prefixed(prefix: str, texts: pa.Array, suffix: str) -> pa.Array:
    """Each text with the same before and behind it."""
    return pc.binary_join_element_wise(prefix, texts, suffix, "")


def literal(batch: pa.RecordBatch, text: str) -> pa.Array:
    """The same string in each row, as JSON text."""
    return pa.repeat(pa.scalar(json.dumps(text)), batch.num_rows)


def listed(items: Iterable[pa.Array]) -> pa.Array:
    """Lists of the items of each row that are there, as JSON text; null where none is."""
    texts = enclosed("[", items, "]")
    return pc.if_else(pc.equal(texts, "[]"), pa.scalar(None, pa.string()), texts)

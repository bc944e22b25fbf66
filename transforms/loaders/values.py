"""Columns of a batch as values of Python for clients that take such, and vectors as one array of numbers.

Dates become ISO texts and bytes base64, as JSON asks for. Lists of Python objects are made a column at a time; rows
are put together from them only where a client's own format is a row.
"""

from __future__ import annotations

import base64
import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING

import orjson
import pyarrow as pa

from transforms.sparse.columns import from_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from transforms.loaders.protocol import Field

LONG = frozenset({"text", "embed_text", "metadata"})
"""Columns that are shown and not filtered by: too long for an index of exact values."""
METADATA = "metadata"
"""The column that holds JSON."""
_DEEPEST = 16
"""Objects and lists in each other that a store gets: Elasticsearch takes 20 of them, Qdrant 127."""
_LARGE = re.compile(r"\d{19}")
_INT64 = range(-(2**63), 2**63)


def ids_of(batch: pa.RecordBatch) -> list[str]:
    """The ids, as texts."""
    return list(batch.column(0).to_pylist())


def vectors_of(batch: pa.RecordBatch) -> NDArray[np.float32]:
    """The vectors, as rows of one array that shares the batch's memory."""
    vectors = batch.column(1)
    numbers: NDArray[np.float32] = vectors.flatten().to_numpy(zero_copy_only=True)
    return numbers.reshape(-1, vectors.type.list_size)


def sparse_of(batch: pa.RecordBatch) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.float32]]:
    """The sparse vectors of a batch that has them: where each begins and the last ends, ids of terms, values.

    The arrays of ids and values share the batch's memory.
    """
    found = from_columns(*batch.columns[-2:])
    return found.offsets, found.indices, found.values


def sparse_rows(batch: pa.RecordBatch) -> Iterator[tuple[NDArray[np.uint32], NDArray[np.float32]]]:
    """The sparse vector of each row: ids of terms and values, as slices of the arrays of all."""
    offsets, indices, values = sparse_of(batch)
    bounds = offsets.tolist()
    return ((indices[first:end], values[first:end]) for first, end in pairwise(bounds))


def field_columns(batch: pa.RecordBatch, fields: Sequence[Field]) -> list[pa.Array]:
    """The columns besides id and vectors, in the order of the fields."""
    return list(batch.columns[2 : 2 + len(fields)])


def columns_of(batch: pa.RecordBatch, fields: Sequence[Field]) -> list[list[object]]:
    """The other columns, the document's own metadata as objects."""
    return [
        [_object(value) for value in column.to_pylist()] if field.column == METADATA else plain(column)
        for field, column in zip(fields, field_columns(batch, fields), strict=True)
    ]


def plain(column: pa.Array) -> list[object]:
    """A column as lists of texts, numbers, lists and None."""
    if pa.types.is_date(column.type):
        return list(column.cast(pa.string()).to_pylist())
    values = column.to_pylist()
    if pa.types.is_binary(column.type):
        return [None if value is None else base64.b64encode(value).decode() for value in values]
    return list(values)


def _object(text: str | None) -> object:
    """A JSON object; a text that is none, as only tables made elsewhere have, becomes one.

    What stores would round or refuse is text in it: whole numbers of more than 64 bits, and what is nested deeper than
    they go.
    """
    if text is None:
        return None
    try:
        found = json.loads(text, parse_int=_integer) if _LARGE.search(text) else orjson.loads(text)
        if text.count("{") + text.count("[") > _DEEPEST:
            found = _flattened(found, _DEEPEST)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {"text": text}


def _integer(written: str) -> int | str:
    is_short = len(written) <= len(str(_INT64.start))
    return int(written) if is_short and int(written) in _INT64 else written


def _flattened(value: object, levels: int) -> object:
    """The value with all that lies deeper as its JSON."""
    if not isinstance(value, dict | list):
        return value
    if not levels:
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return [_flattened(inner, levels - 1) for inner in value]
    return {name: _flattened(inner, levels - 1) for name, inner in value.items()}


def pieces(batch: pa.RecordBatch, rows: int) -> Iterator[pa.RecordBatch]:
    """The batch in slices of so many rows; nothing is copied."""
    return (batch.slice(first, rows) for first in range(0, batch.num_rows, rows))

"""Arrow batches in PostgreSQL's binary COPY format, a column at a time.

The format: a header, for each row the number of its fields and each field with its length before it, a trailer; all
numbers big-endian (PostgreSQL's manual, COPY, "Binary Format"; pgvector's ``vector_recv``, ``halfvec_recv`` and
``sparsevec_recv``).
"""

from __future__ import annotations

import struct
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from transforms.loaders.folding import folded
from transforms.loaders.values import sparse_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HEADER = b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0)
TRAILER = struct.pack(">h", -1)

_NULL = struct.pack(">i", -1)
_LENGTH = struct.Struct(">i")
_DAYS_TO_2000 = 10_957
"""From 1970, where Arrow's days begin, to where PostgreSQL's do."""
_NUMBERS = {
    pa.int8(): ("smallint", ">i2", 21),
    pa.int32(): ("integer", ">i4", 23),
    pa.int64(): ("bigint", ">i8", 20),
    pa.float32(): ("real", ">f4", 700),
}
"""Name, format and object id of a type of numbers."""
_TEXT_ID = 25
SPARSE_DIMENSIONS = 1_000_000_000
"""Of a ``sparsevec``, at most: ids of terms are folded into them."""


def column_type(kind: pa.DataType) -> str:
    """PostgreSQL's type for an Arrow type."""
    if pa.types.is_list(kind):
        return f"{column_type(kind.value_type)}[]"
    if kind in _NUMBERS:
        return _NUMBERS[kind][0]
    return {pa.string(): "text", pa.date32(): "date", pa.binary(): "bytea"}[kind]


def encoded(batch: pa.RecordBatch, *, half: bool = False, sparse: bool = False) -> bytes:
    """The rows of a batch without header and trailer.

    Args:
        batch: a column of ``fixed_size_list<float32>`` is a vector.
        half: vectors are ``halfvec``.
        sparse: the last two columns are one, a ``sparsevec``.
    """
    plain = batch.columns[:-2] if sparse else batch.columns
    columns = [_vectors(column, half=half) if _is_vector(column) else _fields(column) for column in plain]
    if sparse:
        columns.append(_sparse(batch))
    count = [struct.pack(">h", len(columns))] * batch.num_rows
    return b"".join(chain.from_iterable(zip(count, *columns, strict=True)))


def _is_vector(column: pa.Array) -> bool:
    return bool(pa.types.is_fixed_size_list(column.type))


def _vectors(column: pa.Array, *, half: bool) -> Sequence[bytes]:
    """Each vector with its length: dimension and a zero of two bytes each, then the numbers."""
    size = column.type.list_size
    kind = ">f2" if half else ">f4"
    record = np.dtype(
        [("length", ">i4"), ("dimension", ">i2"), ("unused", ">i2"), ("numbers", kind, (size,))]
    )
    rows = np.zeros(len(column), record)
    rows["length"] = record.itemsize - 4
    rows["dimension"] = size
    rows["numbers"] = column.flatten().to_numpy(zero_copy_only=True).reshape(-1, size)
    return _cut(rows)


def _sparse(batch: pa.RecordBatch) -> Sequence[bytes]:
    """Each with its length: dimensions, number of places and a zero of four bytes each, places from 0, their values."""
    offsets, places, values = folded(*sparse_of(batch), SPARSE_DIMENSIONS)
    counts = np.diff(offsets)
    heads = np.zeros((len(counts), 4), ">i4")
    heads[:, 0] = 12 + 8 * counts
    heads[:, 1] = SPARSE_DIMENSIONS
    heads[:, 2] = counts
    head, place, value = heads.tobytes(), places.astype(">i4").tobytes(), values.astype(">f4").tobytes()
    bounds = (4 * offsets).tolist()
    return [
        head[16 * row : 16 * row + 16] + place[first:end] + value[first:end]
        for row, (first, end) in enumerate(pairwise(bounds))
    ]


def _fields(column: pa.Array) -> Sequence[bytes]:
    kind = column.type
    if pa.types.is_list(kind):
        return _lists(column)
    if kind in _NUMBERS or pa.types.is_date(kind):
        return _numbers(column)
    values = column.cast(pa.binary()).to_pylist()
    return [_NULL if value is None else _LENGTH.pack(len(value)) + value for value in values]


def _numbers(column: pa.Array) -> Sequence[bytes]:
    if pa.types.is_date(column.type):
        shift, form, plain = _DAYS_TO_2000, ">i4", column.cast(pa.int32())
    else:
        shift, form, plain = 0, _NUMBERS[column.type][1], column
    rows = np.zeros(len(plain), np.dtype([("length", ">i4"), ("value", form)]))
    rows["length"] = rows.dtype.itemsize - 4
    rows["value"] = plain.fill_null(shift).to_numpy(zero_copy_only=False) - shift
    fields = _cut(rows)
    for place in np.flatnonzero(plain.is_null().to_numpy(zero_copy_only=False)):
        fields[place] = _NULL
    return fields


def _lists(column: pa.Array) -> Sequence[bytes]:
    """One-dimensional arrays from index 1: dimensions, whether nulls, element type, length, first index, elements."""
    elements = _fields(column.flatten())
    identity = _NUMBERS[column.type.value_type][2] if column.type.value_type in _NUMBERS else _TEXT_ID
    pack: Callable[..., bytes] = struct.Struct(">iiiii").pack
    empty = struct.pack(">iiii", 12, 0, 0, identity)
    fields: list[bytes] = []
    first = 0
    for length in column.value_lengths().to_pylist():
        if not length:
            fields.append(_NULL if length is None else empty)
            continue
        body = pack(1, 0, identity, length, 1) + b"".join(elements[first : first + length])
        fields.append(_LENGTH.pack(len(body)) + body)
        first += length
    return fields


def _cut(rows: np.ndarray[tuple[int], np.dtype[np.void]]) -> list[bytes]:
    data, size = rows.tobytes(), rows.dtype.itemsize
    return [data[first : first + size] for first in range(0, len(data), size)]

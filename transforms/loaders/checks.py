"""What is refused of the rows themselves, because a store would refuse it half-way, or take it for something else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.loaders.values import field_columns, sparse_of
from transforms.model.errors import GuardError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from transforms.loaders.protocol import Limits, Target

_UUID = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
"""As stores write it: capitals would come back as other ids."""


def check_rows(batch: pa.RecordBatch, target: Target, limits: Limits, store: str) -> None:
    """Pass rows in the target's schema that the store can take.

    Raises:
        GuardError: naming the first row that it cannot, and why.
    """
    ids = batch.column(0)
    numbers = batch.column(1).flatten().to_numpy(zero_copy_only=True)
    # The sum of squares is finite if all are, and quick; where it is not, it may still be large numbers.
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.dot(numbers, numbers)
    if not np.isfinite(squares):
        rows = ~np.isfinite(numbers.reshape(-1, target.dimension)).all(axis=1)
        _refuse(ids, pa.array(rows), f"`{target.vector}` holds a number that is none (NaN or infinite)")
    if limits.uuids_only:
        _refuse(
            ids,
            pc.invert(pc.match_substring_regex(ids, _UUID)),
            f"the id is no UUID in small letters, which {store} asks for",
        )
    if limits.id_bytes is not None:
        long = pc.greater(pc.binary_length(ids), limits.id_bytes)
        _refuse(ids, long, f"the id is longer than the {limits.id_bytes:,} bytes that {store} takes")
    if target.sparse is not None:
        _check_sparse(batch, target.sparse, limits, store)
    _check_texts(batch, target, limits, store)


def _check_sparse(batch: pa.RecordBatch, name: str, limits: Limits, store: str) -> None:
    ids = batch.column(0)
    lengths, others = (pc.list_value_length(column) for column in batch.columns[-2:])
    _refuse(ids, pc.not_equal(lengths, others), f"`{name}` has not as many values as terms")
    if limits.sparse_entries is not None:
        long = pc.greater(lengths, limits.sparse_entries)
        _refuse(ids, long, f"`{name}` has more than the {limits.sparse_entries:,} terms that {store} takes")
    offsets, indices, values = sparse_of(batch)
    falls = np.zeros(len(indices), bool)
    falls[1:] = indices[1:] <= indices[:-1]
    # The first term of a row need not be above the last of the row before.
    falls[offsets[:-1][np.diff(offsets) > 0]] = False
    _refuse(ids, _rows_of(falls, offsets), f"the terms of `{name}` do not ascend")
    # Some stores refuse what is not above zero half-way, others leave it out of their counts without a word.
    weighs = np.isfinite(values) & (values > 0)
    _refuse(ids, _rows_of(~weighs, offsets), f"`{name}` holds a value that is not above zero, or infinite")


def _rows_of(entries: NDArray[np.bool_], offsets: NDArray[np.int64]) -> pa.Array:
    """Which rows have one of the entries that are marked."""
    rows = np.zeros(len(offsets) - 1, bool)
    rows[np.searchsorted(offsets, np.flatnonzero(entries), side="right") - 1] = True
    return pa.array(rows)


def _check_texts(batch: pa.RecordBatch, target: Target, limits: Limits, store: str) -> None:
    ids = batch.column(0)
    names = (field.name for field in target.fields)
    for name, column in zip(names, field_columns(batch, target.fields), strict=True):
        texts = column.flatten() if pa.types.is_list(column.type) else column
        if not pa.types.is_string(texts.type):
            continue
        if not limits.nul and _has_nul(texts):
            _refuse(
                ids,
                _rows_with_nul(column),
                f"`{name}` holds the character NUL, which {store} does not take",
            )
        if limits.text_bytes is not None and texts is column:
            long = pc.fill_null(pc.greater(pc.binary_length(column), limits.text_bytes), fill_value=False)
            _refuse(
                ids, long, f"`{name}` is longer than the {limits.text_bytes:,} bytes that {store} takes"
            )


def _has_nul(texts: pa.Array) -> bool:
    """Whether a zero byte stands anywhere: one look at the buffer, which may belong to more rows than these."""
    data = texts.buffers()[2]
    return data is not None and re.search(b"\0", memoryview(data)) is not None


def _rows_with_nul(column: pa.Array) -> pa.Array:
    if not pa.types.is_list(column.type):
        return pc.fill_null(pc.match_substring(column, "\0"), fill_value=False)
    rows = pc.list_parent_indices(column).filter(pc.match_substring(column.flatten(), "\0"))
    return pc.is_in(pa.array(range(len(column)), rows.type), value_set=rows)


def _refuse(ids: pa.Array, wrong: pa.Array, fault: str) -> None:
    count = int(pc.sum(wrong).as_py() or 0)
    if count:
        first = ids.filter(wrong)[0].as_py()
        others = f", as of {count - 1:,} more" if count > 1 else ""
        raise GuardError(
            f"Nothing was loaded of the rows at hand: of chunk {first}{others}, {fault}. "
            "Leave the column or the rows out (`columns`, `filter`), or mend the table."
        )

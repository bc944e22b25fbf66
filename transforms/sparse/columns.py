"""Sparse vectors as the two columns of the table, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.sparse.protocol import SparseVectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

INDICES = "sparse_indices"
VALUES = "sparse_values"


def to_columns(vectors: SparseVectors) -> dict[str, pa.ListArray]:
    """The columns ``sparse_indices`` and ``sparse_values``, a row a text."""
    offsets = pa.array(vectors.offsets.astype(np.int32))
    return {
        name: pa.ListArray.from_arrays(offsets, pa.array(flat), type=_list(kind))
        for name, flat, kind in (
            (INDICES, vectors.indices, pa.uint32()),
            (VALUES, vectors.values, pa.float32()),
        )
    }


def from_columns(indices: pa.ListArray, values: pa.ListArray) -> SparseVectors:
    """What :func:`to_columns` made; a row that is null has no terms."""
    return SparseVectors(
        row_offsets(indices),
        np.asarray(indices.flatten(), dtype=np.uint32),
        np.asarray(values.flatten(), dtype=np.float32),
    )


def row_offsets(lists: pa.ListArray) -> NDArray[np.int64]:
    """Where each row begins in ``lists.flatten()``, and its end; a null row is empty."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def _list(kind: pa.DataType) -> pa.ListType:
    return pa.list_(pa.field("element", kind, nullable=False))

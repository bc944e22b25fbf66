"""How well rows answer a query by their terms: the sum of products, row by row, without a Python object a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from transforms.sparse.columns import row_offsets

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

_FEW = 24
"""Terms of a query, as most have them: to compare with each of so few is faster than to look each up."""


def scores(
    indices: pa.ListArray, values: pa.ListArray, ids: NDArray[np.uint32], weights: NDArray[np.float32]
) -> NDArray[np.float32]:
    """One score a row: 0 where it has none of the terms, or no vector.

    Args:
        indices: the column ``sparse_indices`` of some rows.
        values: their ``sparse_values``.
        ids: the query's terms, ascending, each once.
        weights: how much each counts, inverse document frequency included where there is one.
    """
    terms = np.asarray(indices.flatten(), dtype=np.uint32)
    hits = np.flatnonzero(_are_asked(terms, ids))
    place = np.searchsorted(ids, terms[hits])
    products = np.asarray(values.flatten(), dtype=np.float64)[hits] * weights.astype(np.float64)[place]
    offsets = row_offsets(indices)
    rows = np.searchsorted(offsets, hits, side="right") - 1
    return np.bincount(rows, weights=products, minlength=len(indices)).astype(np.float32)


def _are_asked(terms: NDArray[np.uint32], ids: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Which terms are among the query's."""
    if len(ids) > _FEW:
        place = np.minimum(np.searchsorted(ids, terms), len(ids) - 1)
        return np.equal(ids[place], terms)
    is_asked = np.zeros(len(terms), dtype=np.bool_)
    for one in ids:
        is_asked |= terms == one
    return is_asked

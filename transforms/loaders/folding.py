"""Sparse vectors for a store with fewer dimensions than ids of terms, which have 32 bits: each id modulo their number.

Ids are hashes, so that each dimension has about as many of them as any other. Terms of one dimension are one term to
the store: of V terms in D dimensions some V * V / 2 D pairs meet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def folded(
    offsets: NDArray[np.int64], indices: NDArray[np.uint32], values: NDArray[np.float32], dimensions: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """The same vectors in fewer dimensions, their places ascending in each row.

    Args:
        offsets: where each row begins and the last ends.
        indices: ids of terms.
        values: of each; those that meet in one row are added, and what is zero then is left out.
        dimensions: places are below this number.

    Returns:
        offsets, places and values.
    """
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    # Row and place in one number. Ids ascend, so that there are few runs, which a stable sort merges.
    keys = rows * dimensions + indices % np.uint32(dimensions)
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    firsts = np.flatnonzero(np.diff(keys, prepend=-1))
    sums = np.add.reduceat(values, firsts) if len(firsts) else values
    rows, places = np.divmod(keys[firsts[sums != 0]], dimensions)
    counts = np.bincount(rows, minlength=len(offsets) - 1)
    return np.concatenate([[0], np.cumsum(counts)]), places, sums[sums != 0]

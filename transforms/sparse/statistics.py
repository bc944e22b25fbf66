"""How many texts have each term: counted, put together and taken apart, and what follows for a query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from transforms.model.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa
    from numpy.typing import NDArray

_AT_ONCE = 2**22
"""Counts that are held beside those put together: some 50 MB."""


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """Document frequencies of a number of chunks."""

    chunks: int
    """Chunks with a sparse vector, without terms too."""
    ids: NDArray[np.uint32]
    """Ascending, each once."""
    frequencies: NDArray[np.int64]
    """Of each id: in how many chunks it is; never zero."""

    def idf(self, ids: NDArray[np.uint32]) -> NDArray[np.float32]:
        """The inverse document frequency of each term, as Lucene counts it; of a term that none has, the greatest."""
        place = np.searchsorted(self.ids, ids)
        known = place < len(self.ids)
        known[known] = self.ids[place[known]] == ids[known]
        having = np.zeros(len(ids))
        having[known] = self.frequencies[place[known]]
        # Not log1p: rounding would differ between platforms no less, and this is the published formula.
        return np.log(1 + (self.chunks - having + 0.5) / (having + 0.5)).astype(np.float32)

    def add(self, other: TermStatistics) -> TermStatistics:
        """Those of the chunks of both."""
        return _summed([self, other])

    def subtract(self, other: TermStatistics) -> TermStatistics:
        """Those of these chunks without the other ones, all of which are among them.

        Raises:
            TableError: they are not: some term would be in fewer chunks than none.
        """
        minus = TermStatistics(-other.chunks, other.ids, -other.frequencies)
        left = _summed([self, minus])
        if left.chunks < 0 or (left.frequencies < 0).any():
            raise TableError("Terms were to be taken away that are not there.")
        return left


NO_TERMS = TermStatistics(0, np.empty(0, np.uint32), np.empty(0, np.int64))


def counted(columns: Iterable[pa.Array]) -> TermStatistics:
    """The statistics of chunks.

    Args:
        columns: their ``sparse_indices``, in any number of arrays; a null row is no chunk of theirs.
    """
    return summed(_counted(column) for column in columns)


def summed(parts: Iterable[TermStatistics]) -> TermStatistics:
    """The statistics of all chunks together; memory is that of the sum and of the greatest part."""
    total, waiting, held = NO_TERMS, [], 0
    for part in parts:
        waiting.append(part)
        held += len(part.ids)
        if held > max(_AT_ONCE, len(total.ids)):
            total, waiting, held = _summed([total, *waiting]), [], 0
    return _summed([total, *waiting])


def _counted(column: pa.Array) -> TermStatistics:
    ids, frequencies = np.unique(np.asarray(column.flatten(), dtype=np.uint32), return_counts=True)
    return TermStatistics(len(column) - column.null_count, ids, frequencies.astype(np.int64))


def _summed(parts: list[TermStatistics]) -> TermStatistics:
    """The sums of parts; terms of which none are left are gone."""
    chunks = sum(part.chunks for part in parts)
    ids = np.concatenate([part.ids for part in parts])
    if not len(ids):
        return TermStatistics(chunks, NO_TERMS.ids, NO_TERMS.frequencies)
    order = np.argsort(ids, kind="stable")
    ids = ids[order]
    frequencies = np.concatenate([part.frequencies for part in parts])[order]
    first = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]]))
    sums = np.add.reduceat(frequencies, first)
    left = sums != 0
    return TermStatistics(chunks, ids[first][left], sums[left])

"""Find rows by a column of hashes in many files, reading only that column of files that hold no hit.

The index keeps eight bytes of each hash and where its row stands, sixteen bytes a row in all; the whole hash
is compared when a row is fetched. Rows are fetched a row group at a time, so that what is held is the index,
one row group and the hits.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.model.errors import NotFoundError
from transforms.table.damage import NO_PARQUET, parquet_file, read_parquet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from transforms.storage.protocol import Store

MOST_ROWS = 2**25
"""Rows that one index holds at most, 512 MiB: files beyond that are not searched."""
_PARALLEL = 8
"""Files scanned at once; clients of stores keep ten connections."""
_DIGITS = 16


class HashIndex:
    """Where the rows of ``column`` are, in ``paths`` of ``store``. Of equal hashes the first path's counts.

    A file that is not there, or not any more, or is damaged, holds nothing.
    """

    def __init__(self, store: Store, paths: Sequence[str], column: str) -> None:
        self._store = store
        self._paths = paths
        self._column = column
        prefixes, files, rows = self._scanned()
        order = np.argsort(prefixes, kind="stable")
        self._prefixes, self._files, self._rows = prefixes[order], files[order], rows[order]

    def __len__(self) -> int:
        return len(self._prefixes)

    def fetch(self, hashes: pa.Array, columns: Sequence[str], *, every: bool = False) -> Iterator[pa.Table]:
        """The rows of those of ``hashes`` that are there: the hash and ``columns``, in no special order.

        One row a hash, or ``every`` one of the file that counts.
        """
        if not len(self) or not len(hashes):
            return
        wanted = np.unique(prefixes_of(hashes))
        first = np.searchsorted(self._prefixes, wanted, "left")
        counts = np.searchsorted(self._prefixes, wanted, "right") - first
        first, counts = first[counts > 0], counts[counts > 0]
        places = _spread(first, counts) if every else first
        if every:
            places = places[self._files[places] == np.repeat(self._files[first], counts)]
        files, rows = self._files[places], self._rows[places]
        for file in np.unique(files):
            yield from self._rows_of(self._paths[file], np.sort(rows[files == file]), hashes, columns)

    def _rows_of(
        self, path: str, rows: NDArray[np.int32], hashes: pa.Array, columns: Sequence[str]
    ) -> Iterator[pa.Table]:
        with suppress(NotFoundError, *NO_PARQUET), self._store.open(path) as opened:
            file = parquet_file(opened)
            first = 0
            for group in range(file.num_row_groups):
                last = first + file.metadata.row_group(group).num_rows
                inside = rows[(rows >= first) & (rows < last)] - first
                if len(inside):
                    table = file.read_row_group(group, [self._column, *columns]).take(pa.array(inside))
                    # Another row where the file was written again since, or the hashes share a beginning.
                    yield table.filter(pc.is_in(table[self._column], hashes))
                first = last

    def _scanned(self) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int32]]:
        parts: list[NDArray[np.uint64]] = []
        held = 0
        with ThreadPoolExecutor(_PARALLEL) as pool:
            for found in pool.map(self._hashes, self._paths):
                if held + len(found) > MOST_ROWS:
                    break
                held += len(found)
                parts.append(found)
        counts = [len(part) for part in parts]
        files = np.repeat(np.arange(len(parts), dtype=np.int32), counts)
        rows = np.concatenate([np.arange(count, dtype=np.int32) for count in [0, *counts]])
        return np.concatenate([np.empty(0, np.uint64), *parts]), files, rows

    def _hashes(self, path: str) -> NDArray[np.uint64]:
        with suppress(NotFoundError, *NO_PARQUET), self._store.open(path) as opened:
            return prefixes_of(read_parquet(opened, [self._column])[self._column])
        return np.empty(0, np.uint64)


def _spread(first: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """All numbers of the ranges that begin at ``first``."""
    before = np.repeat(np.cumsum(counts) - counts, counts)
    places: NDArray[np.int64] = np.repeat(first, counts) + np.arange(counts.sum()) - before
    return places


def prefixes_of(hashes: pa.Array | pa.ChunkedArray) -> NDArray[np.uint64]:
    """The first eight bytes of each hash, given as hex digits, without an object for each."""
    if isinstance(hashes, pa.ChunkedArray):
        hashes = hashes.combine_chunks()
    heads = pc.utf8_slice_codeunits(hashes, 0, _DIGITS)
    count = len(heads)
    digits = np.frombuffer(heads.buffers()[2] or b"", np.uint8)
    first = heads.offset * _DIGITS
    digits = digits[first : first + count * _DIGITS].reshape(count, _DIGITS)
    values = (digits & 15) + 9 * (digits >> 6)
    pairs = values[:, 0::2] << 4 | values[:, 1::2]
    prefixes: NDArray[np.uint64] = np.ascontiguousarray(pairs).view(np.uint64).ravel()
    return prefixes

"""Divide the objects of a source by a hash of their names, so that each part is compared alone.

Listing and snapshot put an object into the same part; a part of a large source fits a worker's memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

OBJECTS_A_PART = 500_000
_ROWS_AT_ONCE = 65_536
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""An odd number with bits in no pattern: two to the 64 over the golden ratio."""


def part_count(documents: int) -> int:
    """In how many parts a source with so many documents is compared."""
    return 1 + documents // OBJECTS_A_PART


def divided(table: pa.Table, count: int) -> Iterator[tuple[int, pa.Table]]:
    """The parts of a table with a column ``object_name``: number and rows; empty ones may be left out."""
    if count == 1:
        yield 0, table
        return
    parts = part_of(table["object_name"], count)
    for part in np.unique(parts).tolist():
        yield part, table.filter(pa.array(parts == part))


def part_of(names: pa.ChunkedArray, count: int) -> NDArray[np.int64]:
    """The part that each name belongs to."""
    blocks = [
        _hashes(chunk.slice(first, _ROWS_AT_ONCE))
        for chunk in names.chunks
        for first in range(0, len(chunk), _ROWS_AT_ONCE)
    ]
    # The upper half: the lower bits of a product depend on the lower bits of its factors alone.
    upper = np.concatenate([np.empty(0, np.uint64), *blocks]) >> np.uint64(32)
    return (upper % np.uint64(count)).astype(np.int64)


def _hashes(names: pa.Array) -> NDArray[np.uint64]:
    """A polynomial over the bytes of each name, computed on the column's buffers."""
    _, offsets, data = names.buffers()
    ends = np.frombuffer(offsets, np.int32, len(names) + 1, names.offset * 4).astype(np.int64)
    octets = np.frombuffer(data or b"", np.uint8)[ends[0] : ends[-1]].astype(np.uint64)
    ends = ends - ends[0]
    lengths = np.diff(ends)
    places = np.arange(len(octets)) - np.repeat(ends[:-1], lengths)
    powers = np.cumprod(np.full(int(lengths.max(initial=0)), _FACTOR, np.uint64), dtype=np.uint64)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum((octets + np.uint64(1)) * powers[places])])
    mixed: NDArray[np.uint64] = (sums[ends[1:]] - sums[ends[:-1]]) * _FACTOR
    return mixed

"""Which shards are put together: many nights of a few new documents must not leave thousands of small files.

A shard is small below a quarter of the target, as no new shard is but the last of its night. Small ones are
left alone until there are eight, then all of them are joined in order of name, up to the target. So a night
joins at most about two shards' worth of bytes, or what it made small itself, however large the table is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

ENOUGH = 8
"""Small shards that are worth joining."""
MAX_OBJECTS = 5_000
"""Objects of one shard, however small they are."""


def joined_shards(
    shards: pa.Table, gone: Mapping[str, tuple[int, int]], shard_bytes: int
) -> list[tuple[str, ...]]:
    """Groups of two and more shards that become one each, in order of name.

    Args:
        shards: shard, objects, bytes and first name of each that exists.
        gone: objects and bytes that each loses now.
        shard_bytes: what a shard aims at.
    """
    small = []
    for shard, objects, size, first in zip(*(column.to_pylist() for column in shards.columns), strict=True):
        lost_objects, lost_bytes = gone.get(shard, (0, 0))
        left, held = objects - lost_objects, size - lost_bytes
        if left and held < shard_bytes // 4 and left < MAX_OBJECTS // 4:
            small.append((first, shard, left, held))
    return _packed(sorted(small), shard_bytes) if len(small) >= ENOUGH else []


def _packed(small: Sequence[tuple[str, str, int, int]], shard_bytes: int) -> list[tuple[str, ...]]:
    groups: list[list[str]] = []
    objects = size = 0
    for _, shard, left, held in small:
        if not groups or size + held > shard_bytes or objects + left > MAX_OBJECTS:
            groups.append([])
            objects = size = 0
        groups[-1].append(shard)
        objects += left
        size += held
    return [tuple(group) for group in groups if len(group) > 1]

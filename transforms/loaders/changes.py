"""How a collection that holds one snapshot comes to another: which rows to write and which ids to delete.

Snapshots have parents. From an ancestor the way leads down the chain: rows that changed in one of its snapshots, and
what each says it deleted. After a rollback the way leads up to the snapshot that both come from, and down again: what
changed on the way up is taken back. Where a manifest of the way is not there any more, there is no way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from transforms.loaders.state import point_of
from transforms.loaders.stream import files_of, rows_of
from transforms.table.damage import opened, read_parquet
from transforms.table.layout import deletes_path
from transforms.table.manifest import read_manifest
from transforms.table.reader import Snapshot
from transforms.table.recognise import is_complete

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from transforms.loaders.state import Point
    from transforms.model.shard import FileInfo
    from transforms.storage.protocol import Store
    from transforms.table.manifest import Manifest


@dataclass(frozen=True)
class Feed:
    """The way from one snapshot to ``newest``."""

    newest: Snapshot
    down: tuple[int, ...]
    """Snapshots on the way down to ``newest``: its rows that changed last in one of these are to be written,"""
    taken_back: pa.Array
    """and those that have one of these ids."""
    gone: pa.Array
    """Ids to delete, unless ``newest`` has them: those of ``taken_back`` among them."""
    files: tuple[FileInfo, ...]
    """The files of ``newest`` that such rows can be in."""

    def rows(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """The rows to write, a row group at a time."""
        numbers = pa.array(self.down, pa.int64())
        return rows_of(self.newest, self.files, columns, numbers, self.taken_back)


def feed_between(store: Store, held: Point, newest: Snapshot, sources: Sequence[str] = ()) -> Feed | None:
    """The way from a snapshot to another one, for some sources or all.

    None if there is none: the snapshot was removed, is another table's, or shares no ancestor that is still there.

    Raises:
        TableError: a file on the way is damaged.
    """
    start = _manifest(store, held.snapshot)
    if start is None or point_of(start) != held:
        return None
    ways = _ways(store, start, newest.manifest)
    if ways is None:
        return None
    up, down, ancestor = ways
    taken_back = _changed_ids(Snapshot(store, start), Snapshot(store, ancestor), up, sources)
    gone = pa.concat_arrays([taken_back, *(_deleted(store, number) for number in down)])
    known = {file.sha256 for file in start.files}
    return Feed(
        newest=newest,
        down=tuple(down),
        taken_back=taken_back,
        gone=pc.unique(gone),
        files=tuple(file for file in files_of(newest, sources) if file.sha256 not in known),
    )


def _ways(store: Store, start: Manifest, end: Manifest) -> tuple[list[int], list[int], Manifest] | None:
    """The numbers from ``start`` up to the common ancestor and from there down to ``end``, without it; and it."""
    up: list[int] = []
    down: list[int] = []
    while start.snapshot != end.snapshot:
        # A parent has a lower number, so the later one cannot be an ancestor of the other.
        way, later = (up, start) if start.snapshot > end.snapshot else (down, end)
        way.append(later.snapshot)
        parent = None if later.parent is None else _manifest(store, later.parent)
        if parent is None:
            return None
        start, end = (parent, end) if way is up else (start, parent)
    return up, down[::-1], start


def _changed_ids(
    here: Snapshot, ancestor: Snapshot, numbers: Sequence[int], sources: Sequence[str]
) -> pa.Array:
    """The ids of all rows that came, changed or went on the way from an ancestor."""
    known = {file.sha256 for file in ancestor.manifest.files}
    files = [file for file in files_of(here, sources) if file.sha256 not in known]
    changed = rows_of(here, files, ["chunk_id"], pa.array(numbers, pa.int64()))
    ids = [table["chunk_id"].combine_chunks() for table in changed] if numbers else []
    return pa.concat_arrays(
        [pa.array([], pa.string()), *ids, *(_deleted(here.store, number) for number in numbers)]
    )


def _deleted(store: Store, number: int) -> pa.Array:
    with opened(store, deletes_path(number)) as file:
        return read_parquet(file, ["chunk_id"])["chunk_id"].combine_chunks()


def _manifest(store: Store, number: int) -> Manifest | None:
    return read_manifest(store, number) if is_complete(store, number) else None

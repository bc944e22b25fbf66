"""Rows on their way into a store: all of them, or those that changed and the ids of those that are gone.

Either may be repeated from its beginning: rows are upserted or replaced, and deleting an id that is not there does
nothing. Rows that the store would refuse are found before it is told what is on the way; where it can take the whole
step back, they are found on the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from transforms.loaders.checks import check_rows
from transforms.loaders.selection import columns_read, split
from transforms.loaders.state import to_text
from transforms.loaders.stream import ahead, batched, files_of, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from transforms.loaders.changes import Feed
    from transforms.loaders.protocol import Loader, Target
    from transforms.loaders.selection import Selection
    from transforms.loaders.state import SyncState
    from transforms.table.reader import Snapshot

_DELETES_AT_ONCE = 4096


@dataclass(frozen=True, slots=True)
class Work:
    """One load with everything that it needs to know."""

    loader: Loader
    where: str
    newest: Snapshot
    target: Target
    selection: Selection
    batch_rows: int
    expected: int
    """Rows that are to be there in the end."""
    watch: Callable[[int, int], None]


def write_all(work: Work, announced: SyncState, state: SyncState | None) -> tuple[int, int]:
    """Replace what the collection holds by all rows that are chosen.

    Args:
        work: the load.
        announced: told to the store before anything is written.
        state: what the store said of the collection before; None: nothing.

    Returns:
        Rows written, and ids deleted apart from that: none.
    """
    loader, target = work.loader, work.target
    columns = columns_read(target, work.selection)
    files = files_of(work.newest, work.selection.sources)

    def batches() -> Iterator[pa.RecordBatch]:
        tables = rows_of(work.newest, files, columns)
        for batch in ahead(batched(tables, work.batch_rows)):
            rows, _ = split(batch, target, work.selection)
            check_rows(rows, target, loader.limits, loader.name)
            if rows.num_rows:
                yield rows

    if not loader.limits.atomic:
        for _ in batches():
            pass
    loader.set_state(target.collection, to_text(announced))
    if not loader.limits.atomic and state is not None and state.shape != target.shape:
        loader.drop(target.collection)
    rows = _Rows(batches(), work)
    try:
        loader.replace(target, rows)
    except Exception:
        if loader.limits.atomic:
            # Nothing was made: who makes a collection of that name meanwhile has made their own.
            loader.set_state(target.collection, to_text(announced.given_up() if state is None else state))
        # A client in between would make a fault of its own of it.
        if rows.fault is not None:
            raise rows.fault from None
        raise
    return work.expected, 0


def write_changes(work: Work, announced: SyncState, feed: Feed) -> tuple[int, int]:
    """Upsert the rows that changed, then delete the ids that are gone or are not chosen any more.

    Args:
        work: the load.
        announced: told to the store before anything is written.
        feed: the changes.

    Returns:
        Rows written, and ids deleted, of which some may not have been there.
    """
    loader, target = work.loader, work.target
    columns = columns_read(target, work.selection)

    def changes() -> Iterator[tuple[pa.RecordBatch, pa.Array]]:
        for batch in ahead(batched(feed.rows(columns), work.batch_rows)):
            yield split(batch, target, work.selection)

    gone, total = feed.gone, 0
    for rows, left in changes():
        check_rows(rows, target, loader.limits, loader.name)
        gone = _without(_without(gone, rows.column(0)), left)
        total += rows.num_rows
    loader.set_state(target.collection, to_text(announced))
    done = deleted = 0
    for rows, left in changes():
        if rows.num_rows:
            loader.upsert(target, rows)
        deleted += _delete(work, left)
        done += rows.num_rows
        work.watch(done, total)
    return done, deleted + _delete(work, gone)


class _Rows:
    """Batches on their way into a store: counted, and the fault that ended them kept."""

    def __init__(self, batches: Iterator[pa.RecordBatch], work: Work) -> None:
        self._batches = batches
        self._work = work
        self._done = 0
        self.fault: BaseException | None = None

    def __iter__(self) -> _Rows:
        return self

    def __next__(self) -> pa.RecordBatch:
        self._work.watch(self._done, self._work.expected)
        try:
            batch = next(self._batches)
        except StopIteration:
            raise
        except BaseException as error:
            self.fault = error
            raise
        self._done += batch.num_rows
        return batch


def _delete(work: Work, ids: pa.Array) -> int:
    for first in range(0, len(ids), _DELETES_AT_ONCE):
        work.loader.delete(work.target, ids.slice(first, _DELETES_AT_ONCE))
    return len(ids)


def _without(ids: pa.Array, others: pa.Array) -> pa.Array:
    return ids.filter(pc.invert(pc.is_in(ids, value_set=others))) if len(ids) and len(others) else ids

"""Whether a load writes nothing, the changes, or all rows, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from transforms.loaders.changes import feed_between
from transforms.loaders.state import point_of
from transforms.table.manifest import read_manifest

if TYPE_CHECKING:
    from transforms.loaders.changes import Feed
    from transforms.loaders.protocol import Target
    from transforms.loaders.selection import Selection
    from transforms.loaders.state import Point, SyncState
    from transforms.table.reader import Snapshot

Kind = Literal["nothing", "changes", "full"]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a person says of one load, besides the settings."""

    since: int | None = None
    """Take the collection for one that holds this snapshot."""
    full: bool = False
    """Load all rows, whatever is there."""
    adopt: bool = False
    """Take over rows that no load has written: what is not of the table is deleted."""


@dataclass(frozen=True, slots=True)
class Found:
    """What was found under the collection's name."""

    exists: bool
    state: SyncState | None
    """What the last load left there."""
    strange: bool
    """Whether it has rows that no load has written."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a load does; ``why`` goes on a sentence."""

    kind: Kind
    why: str
    feed: Feed | None = None
    held: Point | None = None
    """The snapshot that ``feed`` begins with."""


def plan_load(newest: Snapshot, found: Found, target: Target, selection: Selection, wishes: Wishes) -> Plan:
    """What brings the collection to the newest snapshot.

    Raises:
        TableError: the snapshot that a person named was not published, or a file on the way is damaged.
    """
    reason = _why_full(found, target, selection, wishes)
    if reason:
        return Plan("full", reason)
    toward = found.state.toward if found.state else None
    held = _held(newest, found.state, wishes)
    if held == point_of(newest.manifest) and toward is None and wishes.since is None:
        return Plan("nothing", f"it holds snapshot {held.snapshot} already")
    feed = feed_between(newest.store, held, newest, selection.sources)
    if feed is None:
        return Plan("full", f"no changes lead from snapshot {held.snapshot}, which it holds, to the newest")
    on_the_way = toward is None or toward == point_of(newest.manifest) or toward.snapshot in feed.down
    if not on_the_way and wishes.since is None:
        return Plan("full", "a load of a snapshot of another branch did not end")
    return Plan("changes", f"from snapshot {held.snapshot}", feed, held)


def _why_full(found: Found, target: Target, selection: Selection, wishes: Wishes) -> str:
    """The reason to load all rows, if there is one."""
    state = found.state
    if not found.exists:
        return "there was no such collection"
    if wishes.full:
        return "it was asked for"
    if state is not None and state.shape != target.shape:
        return "its columns, dimension or index are others"
    if state is not None and state.encoder != target.encoder:
        return "its sparse vectors are those of another encoder"
    if state is not None and state.selection != selection.key:
        return "other rows are chosen"
    if wishes.since is not None:
        return ""
    if state is None or found.strange:
        return "it was taken over"
    return "the last load did not end" if state.held is None else ""


def _held(newest: Snapshot, state: SyncState | None, wishes: Wishes) -> Point:
    if wishes.since is not None:
        return point_of(read_manifest(newest.store, wishes.since))
    assert state is not None  # noqa: S101 - what has none is loaded in full
    assert state.held is not None  # noqa: S101 - as above
    return state.held

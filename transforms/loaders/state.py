"""What a collection holds: which snapshot of which table, made how; kept in the store beside the rows.

While a load is under way the state says so, so that one that dies is repeated and never taken for done.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from transforms.model.errors import TableError
from transforms.model.ids import fingerprint
from transforms.storage.roots import place_of
from transforms.table.manifest import read_manifest
from transforms.table.recognise import is_complete

if TYPE_CHECKING:
    from transforms.storage.protocol import Store
    from transforms.table.manifest import Manifest

STATE_VERSION = 1


@dataclass(frozen=True, slots=True)
class Point:
    """A snapshot: its number, and a key that no other snapshot has, of this or of another table."""

    snapshot: int
    key: str


@dataclass(frozen=True, slots=True)
class SyncState:
    """What the last load made of a collection, or sets out to make."""

    table: str
    """Where the table was; one that is moved stays the same, as long as it has a snapshot of these."""
    held: Point | None
    """All rows were those of this snapshot; None: before a load in full that has not ended."""
    toward: Point | None
    """The snapshot that a load is on the way to; None: it has ended."""
    shape: str
    """Fingerprint of columns, dimension, metric and index."""
    selection: str
    """Fingerprint of sources, filter and model."""
    dimension: int
    metric: str
    model: str
    rows: int
    """Of the collection, when all were those of ``held``."""
    encoder: str = ""
    """What made the sparse vectors; empty without them, as in states of former versions."""
    load: str = ""
    """Which load announced this, so that two at once are told apart; empty: none is under way."""
    version: int = STATE_VERSION

    def ended(self, rows: int) -> SyncState:
        """The state after the load that this one announces."""
        return replace(self, held=self.toward, toward=None, rows=rows, load="")

    def given_up(self) -> SyncState:
        """The state after a first load that has left nothing: rows that are there later are somebody else's."""
        return replace(self, toward=None, rows=0, load="")

    def disturbed(self) -> SyncState:
        """The state after a load that was not alone: what the collection holds is unknown."""
        return replace(self, held=None, load="")


_STATE = TypeAdapter(SyncState)


def point_of(manifest: Manifest) -> Point:
    """The point of a published snapshot."""
    return Point(manifest.snapshot, fingerprint(manifest.run_id, manifest.created_at))


def is_of(state: SyncState, store: Store) -> bool:
    """Whether the collection is of this table: it has a snapshot of the state, or stands where that one stood."""
    points = [point for point in (state.held, state.toward) if point is not None]
    return (
        not points
        or _is_at(state.table, place_of(store.root))
        or any(_has(store, point) for point in points)
    )


def _is_at(table: str, place: str) -> bool:
    """Whether a state names the place. Former versions wrote a folder as it was given, from wherever that was."""
    is_relative = "://" not in table and not table.startswith("/")
    return place_of(table) == place or (is_relative and place.endswith(f"/{table}"))


def _has(store: Store, point: Point) -> bool:
    return is_complete(store, point.snapshot) and point_of(read_manifest(store, point.snapshot)) == point


def to_text(state: SyncState) -> str:
    """ASCII JSON."""
    return _STATE.dump_json(state, ensure_ascii=True).decode()


def from_text(text: str, where: str) -> SyncState:
    """The state of a text that a load has left.

    Raises:
        TableError: it is damaged, or of a newer program.
    """
    try:
        state = _STATE.validate_json(text)
    except ValidationError as error:
        raise TableError(
            f"What {where} says of its contents cannot be read; load it again with --adopt."
        ) from error
    if state.version > STATE_VERSION:
        raise TableError(f"{where} was loaded by a newer parquetry; use that one.")
    return state

"""``latest.json``: which snapshot readers see.

``highest`` is the highest number ever published. A rollback moves ``snapshot`` and leaves ``highest``, so
that a number never names two different snapshots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from transforms.model.errors import GuardError, PreconditionError, TableError
from transforms.table.damage import fault_of
from transforms.table.layout import LATEST, manifest_path
from transforms.table.schema import SCHEMA_VERSION
from transforms.table.versioned import check_version

if TYPE_CHECKING:
    from transforms.storage.protocol import Store

_TRIES = 5


@dataclass(frozen=True, slots=True)
class Pointer:
    """The newest snapshot and where its manifest is."""

    schema_version: int
    snapshot: int
    highest: int
    manifest: str

    def __post_init__(self) -> None:
        if not 1 <= self.snapshot <= self.highest:
            raise ValueError(f"there is no snapshot {self.snapshot} among {self.highest}")


_POINTER = TypeAdapter(Pointer)


def read_pointer(store: Store) -> Pointer | None:
    """The pointer, or None where nothing was published yet.

    Raises:
        TableError: the file is no pointer of this program, or of a newer one.
    """
    return _read(store)[0]


def next_number(pointer: Pointer | None) -> int:
    """The number of the snapshot that the next run builds: one that was never used."""
    return pointer.highest + 1 if pointer else 1


def move_pointer(store: Store, snapshot: int, expected: int | None, highest: int = 0) -> None:
    """Make ``snapshot`` the newest, in one step, if the newest is still ``expected`` (None: there is none).

    ``highest`` is a number known to have been published, where the pointer may not know it.

    Raises:
        GuardError: another run or a rollback moved the pointer in between.
    """
    before, token = _read(store)
    now = None if before is None else before.snapshot
    moved = GuardError(
        f"{store.root} was at snapshot {expected} and is at {now} now: another run or a rollback moved it. "
        "Nothing was published; start again."
    )
    if now != expected:
        raise moved
    highest = max(snapshot, highest, before.highest if before else 0)
    data = _POINTER.dump_json(Pointer(SCHEMA_VERSION, snapshot, highest, manifest_path(snapshot)), indent=2)
    try:
        if token is None:
            store.create(LATEST, data)
        else:
            store.replace(LATEST, data, token)
    except PreconditionError as error:
        raise moved from error


def _read(store: Store) -> tuple[Pointer | None, str | None]:
    """The pointer and the version of the object that it was read from."""
    for _ in range(_TRIES):
        facts = store.stat(LATEST)
        if facts is None:
            return None, None
        try:
            return _parse(store, store.read(LATEST, token=facts.token)), facts.token
        except PreconditionError:
            # Moved between the two requests.
            continue
    raise GuardError(f"{store.uri(LATEST)} changes all the time; somebody else works on this table.")


def _parse(store: Store, data: bytes) -> Pointer:
    uri = store.uri(LATEST)
    try:
        check_version(data, uri)
        return _POINTER.validate_json(data)
    except ValueError as error:
        raise TableError(
            f"{uri} {fault_of(error)}. Delete it; `parquetry rollback {store.root}` writes it again."
        ) from error

"""``latest.json``: which snapshot readers see.

``highest`` is the highest number ever published. A rollback moves ``snapshot`` and leaves ``highest``, so
that a number never names two different snapshots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from transforms.model.errors import NotFoundError, TableError
from transforms.table.layout import LATEST, manifest_path
from transforms.table.schema import SCHEMA_VERSION

if TYPE_CHECKING:
    from transforms.storage.protocol import Store


@dataclass(frozen=True, slots=True)
class Pointer:
    """The newest snapshot and where its manifest is."""

    schema_version: int
    snapshot: int
    highest: int
    manifest: str


_POINTER = TypeAdapter(Pointer)


def read_pointer(store: Store) -> Pointer | None:
    """The pointer, or None where nothing was published yet.

    Raises:
        TableError: the file is no pointer of this program, or of a newer one.
    """
    try:
        data = store.read(LATEST)
    except NotFoundError:
        return None
    try:
        pointer = _POINTER.validate_json(data)
    except ValidationError as error:
        raise TableError(f"{store.uri(LATEST)} does not name a snapshot: {error}") from error
    if pointer.schema_version > SCHEMA_VERSION:
        raise TableError(f"{store.root} was written by a newer program. Upgrade this one.")
    return pointer


def move_pointer(store: Store, snapshot: int) -> None:
    """Make ``snapshot`` the newest, in one step.

    Raises:
        PreconditionError: another writer moved the pointer in between.
    """
    facts = store.stat(LATEST)
    before = read_pointer(store)
    highest = max(snapshot, before.highest if before else 0)
    data = _POINTER.dump_json(Pointer(SCHEMA_VERSION, snapshot, highest, manifest_path(snapshot)), indent=2)
    if facts is None:
        store.create(LATEST, data)
    else:
        store.replace(LATEST, data, facts.token)

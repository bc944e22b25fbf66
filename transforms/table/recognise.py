"""What a place is: a table, one whose pointer was lost, an empty place, or something else.

A directory with a manifest was published, unless the claim of a run that died before the last step is still
beside it. One that the pointer knows nothing of must not be built again: it may be a backup's older pointer that
says its number is free.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from transforms.model.errors import (
    CredentialsError,
    NotFoundError,
    StorageError,
    TableError,
    TooLargeError,
)
from transforms.table.layout import LATEST, RUNS, SNAPSHOTS, claim_path, manifest_path, snapshot_of
from transforms.table.pointer import read_pointer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transforms.storage.protocol import Store
    from transforms.table.pointer import Pointer

_OURS = (SNAPSHOTS, RUNS)
_LARGEST_MARK = 2**26
"""Bytes of a manifest of some 200,000 files; no pointer has more than some hundred."""


def require_table_or_empty(store: Store) -> None:
    """Pass a table and an empty or missing place.

    Raises:
        TableError: something else is there, or the table's pointer is missing, damaged or too old.
    """
    pointer = read_pointer(store)
    if not store.exists_root():
        return
    if pointer is None:
        _refuse_strangers(store)
    lost = forgotten(store, pointer)
    if lost:
        raise _lost(store, lost[-1], pointer)


def require_pointer(store: Store) -> Pointer:
    """The pointer of a table with a published snapshot.

    Raises:
        TableError: there is none, something else is there, or the pointer is damaged.
    """
    pointer = read_pointer(store)
    if pointer is not None:
        return pointer
    lost = forgotten(store, None)
    if lost:
        raise _lost(store, lost[-1], None)
    if store.exists_root():
        _refuse_strangers(store)
        raise TableError(
            f"There is no published snapshot at {store.root}. `parquetry run CONFIG` makes one."
        )
    raise TableError(
        f"There is no published snapshot at {store.root}: there is no such place. Mend the name, or make a table "
        "there with `parquetry run CONFIG`."
    )


def forgotten(store: Store, pointer: Pointer | None) -> list[int]:
    """The numbers of snapshots that were published and that the pointer knows nothing of."""
    highest = pointer.highest if pointer else 0
    complete = [
        number for number in snapshot_numbers(store) if number > highest and is_complete(store, number)
    ]
    return [n for n in complete if n < complete[-1] or store.stat(claim_path(n)) is None]


def snapshot_numbers(store: Store) -> list[int]:
    """The numbers of all directories of snapshots, published or not."""
    if not store.exists_root():
        return []
    numbers = (snapshot_of(folder) for folder in store.level(SNAPSHOTS).folders)
    return sorted(number for number in numbers if number is not None)


def is_complete(store: Store, number: int) -> bool:
    """Whether a snapshot has its manifest, which is written last."""
    return store.stat(manifest_path(number)) is not None


def is_table(store: Store, folder: str) -> bool:
    """Whether a folder of any store is a table, of this program's version or another: by its pointer.

    One that has lost it, or is built for the first time, is known by the manifest or the claim of its oldest snapshot.

    Args:
        store: of whatever root.
        folder: "", or below the root and with its slash.

    Raises:
        CredentialsError: nothing can be read there.
    """
    try:
        return any(_has(store, folder + name, keys) for name, keys in _marks(store, folder))
    except CredentialsError:
        raise
    except StorageError:
        # What cannot be looked at says nothing; it is read as any object is, and refused as one.
        return False


def _marks(store: Store, folder: str) -> Iterator[tuple[str, set[str]]]:
    """Objects that only a table has, and keys that each has had from the first version on."""
    yield LATEST, {"schema_version", "snapshot", "highest", "manifest"}
    inside = (name.removeprefix(folder) for name in store.level(folder + SNAPSHOTS).folders)
    oldest = min((number for name in inside if (number := snapshot_of(name)) is not None), default=None)
    if oldest is not None:
        yield manifest_path(oldest), {"schema_version", "snapshot", "run_id", "files"}
        yield claim_path(oldest), {"run_id", "host", "pid", "expires_at"}


def _has(store: Store, name: str, keys: set[str]) -> bool:
    """Whether an object is JSON with these keys."""
    try:
        found = json.loads(store.read(name, limit=_LARGEST_MARK))
    except (NotFoundError, TooLargeError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and keys <= found.keys()


def _refuse_strangers(store: Store) -> None:
    # One level is enough, be the place a home directory.
    level = store.level()
    found = [*level.folders, *(info.name for info in level.objects)]
    strange = [name for name in found if name not in _OURS]
    if strange:
        raise TableError(
            f"{store.root} is no table: it holds {strange[0]}. Name an empty place or the folder of a table."
        )


def _lost(store: Store, number: int, pointer: Pointer | None) -> TableError:
    is_what = "is missing" if pointer is None else "is an old one"
    return TableError(
        f"{store.uri(LATEST)} {is_what}: snapshot {number} was published there. Put the newest one back, or write "
        f"it with `parquetry rollback {store.root} --to {number}`."
    )

"""The snapshots of a table: which there are, going back to one, removing old ones.

A number up to the pointer's ``highest`` was published once; a directory above it is a run at work, or one
that died and that the next run goes on with. Removal takes the manifest first, so that a snapshot that is half
removed is none.
"""

from __future__ import annotations

import datetime
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from transforms.model.errors import ConfigError, NotFoundError, TableError
from transforms.table.layout import claim_path, manifest_path, snapshot_dir
from transforms.table.lease import Claim, Lease, read_claim
from transforms.table.manifest import Manifest, read_manifest
from transforms.table.pointer import move_pointer, next_number, read_pointer
from transforms.table.recognise import forgotten, is_complete, require_pointer, snapshot_numbers
from transforms.table.verify import check_files

if TYPE_CHECKING:
    from transforms.storage.protocol import Store
    from transforms.table.pointer import Pointer

GRACE = datetime.timedelta(days=1)
"""How long a reader may go on with a snapshot that is not the newest any more."""


@dataclass(frozen=True, slots=True)
class Vacuumed:
    """What ``vacuum`` removed, or would remove: numbers of snapshots, and how many objects they held."""

    snapshots: tuple[int, ...]
    unfinished: tuple[int, ...]
    objects: int


def published(store: Store, *, damaged_too: bool = True) -> list[Manifest]:
    """The manifests of all published snapshots that are still there, oldest first.

    Raises:
        TableError: nothing was published here, a newer program wrote it, or a manifest is damaged; one that is
            damaged is left out instead where ``damaged_too`` is False.
    """
    highest = require_pointer(store).highest
    numbers = (number for number in snapshot_numbers(store) if number <= highest)
    found = (_manifest_if_there(store, number, damaged_too=damaged_too) for number in numbers)
    return [manifest for manifest in found if manifest is not None]


def unfinished(store: Store) -> list[int]:
    """Directories of runs that did not publish: at work, to be resumed, or left behind."""
    pointer = read_pointer(store)
    highest = pointer.highest if pointer else 0
    return [n for n in snapshot_numbers(store) if n > highest or not is_complete(store, n)]


def run_at_work(store: Store) -> Claim | None:
    """The claim of the run that builds the next snapshot, if one may be alive."""
    claim = read_claim(store, next_number(read_pointer(store)))
    return claim if claim is not None and claim.alive() else None


def rollback(store: Store, number: int | None = None) -> Manifest:
    """Send readers back, or forward again, to a published snapshot whose files are all there.

    Left out, ``number`` is the snapshot that the one they see now was made from. The next run continues from
    there, under a number that was never used. A pointer that is missing, or does not know what was published since,
    is written anew; left out, ``number`` is the newest snapshot then.

    Raises:
        TableError: it was never published, or was removed, be it at this moment, or a file of it is missing.
        GuardError: a run published in between.
    """
    lost = forgotten(store, read_pointer(store))
    pointer = read_pointer(store) if lost else require_pointer(store)
    highest = max([pointer.highest if pointer else 0, *lost])
    if number is None:
        number = _parent(store, pointer.snapshot) if pointer else highest
    if number > highest:
        raise TableError(
            f"{store.root} has no published snapshot {number}; `parquetry snapshots {store.root}` lists those it has."
        )
    manifest = read_manifest(store, number)
    check_files(store, manifest)
    if pointer is None or number != pointer.snapshot or lost:
        move_pointer(store, number, pointer.snapshot if pointer else None, highest)
        _require_still_there(store, number, pointer)
    return manifest


def vacuum(
    store: Store,
    keep: int,
    grace: datetime.timedelta = GRACE,
    now: datetime.datetime | None = None,
    *,
    dry_run: bool = False,
) -> Vacuumed:
    """Remove old snapshots, whole: all but the newest ``keep``.

    Never the one that readers see, nor one younger than ``grace``, nor one that a live run builds or continues.
    Of unfinished ones go those that no run will resume, and those that nobody resumed within ``grace``.

    Raises:
        ConfigError: ``keep`` is less than 1.
        TableError: nothing was published here.
    """
    if keep < 1:
        raise ConfigError(f"vacuum keeps at least 1 snapshot, not {keep}.")
    pointer = require_pointer(store)
    oldest = (now or datetime.datetime.now(datetime.UTC)) - grace
    in_use = {pointer.snapshot} | _leased(store)
    old = tuple(
        manifest.snapshot
        for manifest in published(store)[:-keep]
        if manifest.snapshot not in in_use
        and datetime.datetime.fromisoformat(manifest.created_at) <= oldest
    )
    left = tuple(
        number
        for number in unfinished(store)
        if number not in in_use and (number <= pointer.highest or _is_abandoned(store, number, oldest))
    )
    removed = {number: _remove_published(store, number, dry_run=dry_run) for number in old}
    objects = sum(removed.values())
    objects += sum(_remove_unfinished(store, number, pointer, dry_run=dry_run) for number in left)
    return Vacuumed(tuple(number for number, count in removed.items() if count), left, objects)


def _manifest_if_there(store: Store, number: int, *, damaged_too: bool) -> Manifest | None:
    """None for a snapshot that is half removed, or that is removed at this moment."""
    if not is_complete(store, number):
        return None
    try:
        return read_manifest(store, number)
    except TableError:
        if damaged_too and is_complete(store, number):
            raise
        return None


def _require_still_there(store: Store, number: int, before: Pointer | None) -> None:
    """Send readers back where they were if ``vacuum`` has taken the snapshot that they were just sent to."""
    if is_complete(store, number):
        return
    if before is not None:
        move_pointer(store, before.snapshot, number)
    raise TableError(
        f"Snapshot {number} of {store.root} was removed at this moment; readers see what they saw before."
    )


def _parent(store: Store, number: int) -> int:
    parent = read_manifest(store, number).parent
    if parent is None or not is_complete(store, parent):
        raise TableError(
            f"Snapshot {number} of {store.root} has no older one that is still there; name one with --to."
        )
    return parent


def _leased(store: Store) -> set[int]:
    """What runs that may be alive build, and what they read."""
    leased: set[int] = set()
    for number in snapshot_numbers(store):
        claim = read_claim(store, number)
        if claim is not None and claim.alive():
            leased |= {number} | ({claim.parent} if claim.parent is not None else set())
    return leased


def _is_abandoned(store: Store, number: int, oldest: datetime.datetime) -> bool:
    """Whether its last run ended before ``oldest``; without a claim nothing says so."""
    claim = read_claim(store, number)
    return claim is not None and claim.ended() <= oldest


def _remove_unfinished(store: Store, number: int, pointer: Pointer, *, dry_run: bool) -> int:
    """Under a claim of its own, where a run could begin to resume it at this moment."""
    if dry_run or number <= pointer.highest:
        return _remove(store, number, dry_run=dry_run)
    with Lease(store, number, f"vacuum-{uuid.uuid4().hex[:8]}"):
        names = [info.name for page in store.list(snapshot_dir(number)) for info in page]
        store.delete([name for name in names if name != claim_path(number)])
    return len(names)


def _remove_published(store: Store, number: int, *, dry_run: bool) -> int:
    """Objects removed: none where a rollback sent readers to the snapshot at this moment.

    The manifest is taken away, and then the pointer looked at; a rollback moves the pointer, and then looks for the
    manifest. So one of the two sees the other.
    """
    if dry_run:
        return _remove(store, number, dry_run=True)
    try:
        manifest = store.read(manifest_path(number))
    except NotFoundError:
        # Another vacuum is at it.
        return _remove(store, number, dry_run=False)
    store.delete([manifest_path(number)])
    if require_pointer(store).snapshot == number:
        store.write(manifest_path(number), manifest)
        return 0
    return 1 + _remove(store, number, dry_run=False)


def _remove(store: Store, number: int, *, dry_run: bool) -> int:
    names = [info.name for page in store.list(snapshot_dir(number)) for info in page]
    if not dry_run:
        store.delete([manifest_path(number)])
        store.delete(names)
    return len(names)

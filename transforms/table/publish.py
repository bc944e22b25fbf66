"""Publish a snapshot: everything is in place and checked before the manifest says so.

Each step can be repeated after a crash. Readers see the last snapshot until ``latest.json`` moves.
"""

from __future__ import annotations

import contextlib
import datetime
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from transforms.model.errors import NotFoundError, ParquetryError, TableError
from transforms.model.fusion import DEFAULT
from transforms.model.ids import slug
from transforms.model.version import VERSION
from transforms.table.damage import damaged
from transforms.table.layout import (
    CHUNKS,
    DOCUMENTS,
    deletes_path,
    manifest_path,
    rejected_path,
    snapshot_dir,
)
from transforms.table.lease import require_claim
from transforms.table.manifest import Manifest, SourceEntry, faults, read_manifest, to_json
from transforms.table.pointer import move_pointer, read_pointer
from transforms.table.rejected import rejected_table
from transforms.table.schema import DELETES, SCHEMA_VERSION
from transforms.table.terms import write_terms
from transforms.table.verify import in_turn, wrong_files
from transforms.table.writer import to_parquet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from transforms.model.fusion import Fusion
    from transforms.model.shard import FileInfo, Rejection
    from transforms.storage.protocol import Store

_PARALLEL = 8
"""Copies and footers at once; clients of stores keep ten connections."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What a run wants to publish."""

    number: int
    parent: int | None
    run_id: str
    recipe: Mapping[str, str]
    new_files: tuple[FileInfo, ...]
    kept_files: tuple[FileInfo, ...]
    """Files of the parent that stay as they are."""
    rejected: tuple[Rejection, ...]
    deleted: Mapping[str, tuple[str, ...]]
    """Chunk ids gone since the parent, by source."""
    counts: Mapping[str, Mapping[str, int]]
    """By source, with the keys of ``manifest.COUNTS``."""
    totals: Mapping[str, int]
    """The counts of all sources together."""
    sparse: str | None = None
    """What makes the table's sparse vectors."""
    search: Fusion = DEFAULT
    """How the table is searched by vectors and words."""


def publish(store: Store, draft: Draft, inspect: Callable[[Manifest], None] | None = None) -> Manifest:
    """Make the draft the newest snapshot. A call that is repeated finds its own work and does no harm.

    Args:
        store: where the table is.
        draft: what it shall hold.
        inspect: called when all files are in place and the manifest is not yet; what it raises stops the publishing.

    Raises:
        TableError: a file is not what its receipt says; nothing was published.
        GuardError: another run has taken over, or published in between; nothing was published.
    """
    before = _published_before(store, draft)
    if before is not None:
        return before
    require_claim(store, draft.number, draft.run_id)
    manifest = _manifest(draft)
    # An attempt that died just before the last step left one that is about to be wrong.
    store.delete([manifest_path(draft.number)])
    _write_side_tables(store, draft)
    _link_kept(store, draft)
    _remove_strays(store, manifest)
    _check_files(store, draft, manifest)
    _check_rows(store, draft)
    manifest = replace(manifest, terms=write_terms(store, manifest))
    if inspect is not None:
        inspect(manifest)
    require_claim(store, draft.number, draft.run_id)
    store.write(manifest_path(draft.number), to_json(manifest))
    try:
        move_pointer(store, draft.number, draft.parent)
    except ParquetryError:
        _take_back(store, draft.number)
        raise
    return manifest


def _published_before(store: Store, draft: Draft) -> Manifest | None:
    """What this very run has published in an attempt before this one."""
    pointer = read_pointer(store)
    if pointer is None or pointer.highest != draft.number:
        return None
    manifest = read_manifest(store, draft.number)
    return manifest if manifest.run_id == draft.run_id else None


def _take_back(store: Store, number: int) -> None:
    """Remove the manifest of a snapshot that readers were not sent to: only published ones have one for long."""
    with contextlib.suppress(ParquetryError):
        pointer = read_pointer(store)
        if pointer is None or pointer.highest < number:
            store.delete([manifest_path(number)])


def _manifest(draft: Draft) -> Manifest:
    return Manifest(
        schema_version=SCHEMA_VERSION,
        snapshot=draft.number,
        parent=draft.parent,
        created_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        program=f"parquetry {VERSION}",
        run_id=draft.run_id,
        recipe=dict(draft.recipe),
        files=tuple(sorted((*draft.new_files, *draft.kept_files), key=lambda file: file.path)),
        sources={name: SourceEntry(slug(name), dict(counts)) for name, counts in draft.counts.items()},
        counts=dict(draft.totals),
        sparse=draft.sparse,
        search=draft.search,
    )


def _link_kept(store: Store, draft: Draft) -> None:
    if draft.parent is None:
        return
    old, new = snapshot_dir(draft.parent), snapshot_dir(draft.number)
    with ThreadPoolExecutor(_PARALLEL) as pool:
        copies = [pool.submit(store.copy, old + file.path, new + file.path) for file in draft.kept_files]
        for file, copy in zip(draft.kept_files, copies, strict=True):
            try:
                copy.result()
            except NotFoundError as error:
                raise damaged(store, old + file.path, "is missing") from error


def _remove_strays(store: Store, manifest: Manifest) -> None:
    """Files of an interrupted run that this one did not write: a reader by glob would see their rows."""
    named = {snapshot_dir(manifest.snapshot) + file.path for file in manifest.files}
    folders = [f"{snapshot_dir(manifest.snapshot)}{kind}/" for kind in (CHUNKS, DOCUMENTS)]
    found = [info.name for folder in folders for page in store.list(folder) for info in page]
    store.delete([name for name in found if name not in named])


def _check_files(store: Store, draft: Draft, manifest: Manifest) -> None:
    """Hold the files against the manifest, and the manifest against itself."""
    for fault in faults(manifest):
        raise TableError(f"Snapshot {draft.number} of {store.root} was not published: {fault}.")
    read = (*draft.new_files, *in_turn(draft.kept_files, draft.number))
    wrong = wrong_files(store, draft.number, manifest.files, read)
    kept = {file.path for file in draft.kept_files}
    for path, fault in wrong.items():
        if path in kept and draft.parent is not None:
            raise damaged(store, snapshot_dir(draft.parent) + path, fault)
        raise TableError(
            f"{store.uri(snapshot_dir(draft.number) + path)} {fault}; the snapshot was not published. Run again: "
            "what is intact is kept."
        )


def _check_rows(store: Store, draft: Draft) -> None:
    """Hold the footers of the new files against their receipts."""
    folder = snapshot_dir(draft.number)

    def rows(file: FileInfo) -> int:
        with store.open(folder + file.path) as opened:
            return int(pq.read_metadata(opened).num_rows)

    with ThreadPoolExecutor(_PARALLEL) as pool:
        for file, found in zip(draft.new_files, pool.map(rows, draft.new_files), strict=True):
            if found != file.rows:
                raise TableError(
                    f"{store.uri(folder + file.path)} should have {file.rows:,} rows and has {found:,}; "
                    "the snapshot was not published. Run again."
                )


def _write_side_tables(store: Store, draft: Draft) -> None:
    recipe = dict(draft.recipe)
    number = draft.number
    rejected = rejected_table(draft.rejected)
    store.write(deletes_path(number), to_parquet(_deletes(draft), recipe))
    store.write(rejected_path(number), to_parquet(rejected, recipe))


def _deletes(draft: Draft) -> pa.Table:
    tables = [
        pa.table(
            [pa.array(ids, pa.string()), pa.repeat(pa.scalar(source, pa.string()), len(ids))],
            schema=DELETES,
        )
        for source, ids in sorted(draft.deleted.items())
    ]
    return pa.concat_tables([DELETES.empty_table(), *tables])

"""Publish a snapshot: everything is in place and checked before the manifest says so.

Each step can be repeated after a crash. Readers see the last snapshot until ``latest.json`` moves.
"""

from __future__ import annotations

import datetime
import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from transforms.model.errors import TableError
from transforms.model.ids import slug
from transforms.model.version import VERSION
from transforms.table.layout import (
    CHUNKS,
    DOCUMENTS,
    deletes_path,
    manifest_path,
    rejected_path,
    report_path,
    snapshot_dir,
)
from transforms.table.manifest import COUNTS, Manifest, SourceEntry, to_json
from transforms.table.pointer import move_pointer
from transforms.table.schema import DELETES, REJECTED, SCHEMA_VERSION
from transforms.table.writer import to_parquet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from transforms.model.shard import FileInfo, Rejection
    from transforms.storage.protocol import Store

_PARALLEL_COPIES = 16


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


def publish(store: Store, draft: Draft) -> Manifest:
    """Make the draft the newest snapshot.

    Raises:
        TableError: a file is not what its receipt says; nothing was published.
        PreconditionError: another writer published in between.
    """
    manifest = _manifest(draft)
    _link_kept(store, draft)
    _remove_strays(store, manifest)
    _check_files(store, manifest)
    _write_side_tables(store, draft, manifest)
    store.write(manifest_path(draft.number), to_json(manifest))
    move_pointer(store, draft.number)
    return manifest


def _manifest(draft: Draft) -> Manifest:
    totals: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))
    for counts in draft.counts.values():
        totals.update(counts)
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
        counts=dict(totals),
    )


def _link_kept(store: Store, draft: Draft) -> None:
    if draft.parent is None:
        return
    old, new = snapshot_dir(draft.parent), snapshot_dir(draft.number)
    with ThreadPoolExecutor(_PARALLEL_COPIES) as pool:
        copies = [pool.submit(store.copy, old + file.path, new + file.path) for file in draft.kept_files]
        for copy in copies:
            copy.result()


def _remove_strays(store: Store, manifest: Manifest) -> None:
    """Files of an interrupted run that this one did not write: a reader by glob would see their rows."""
    named = {snapshot_dir(manifest.snapshot) + file.path for file in manifest.files}
    folders = [f"{snapshot_dir(manifest.snapshot)}{kind}/" for kind in (CHUNKS, DOCUMENTS)]
    found = [info.name for folder in folders for page in store.list(folder) for info in page]
    store.delete([name for name in found if name not in named])


def _check_files(store: Store, manifest: Manifest) -> None:
    """Hold the files that are there against what the manifest will say of them."""
    folder = snapshot_dir(manifest.snapshot)
    sizes = {
        info.name: info.size
        for kind in (CHUNKS, DOCUMENTS)
        for page in store.list(f"{folder}{kind}/")
        for info in page
    }
    for file in manifest.files:
        if sizes.get(folder + file.path) != file.bytes:
            raise TableError(
                f"{store.uri(folder + file.path)} should have {file.bytes:,} bytes and has "
                f"{sizes.get(folder + file.path, 0):,}; the snapshot was not published. Run again."
            )
    for kind in (CHUNKS, DOCUMENTS):
        rows = sum(file.rows for file in manifest.files if file.path.startswith(f"{kind}/"))
        if rows != manifest.counts[kind]:
            raise TableError(
                f"The {kind} files of snapshot {manifest.snapshot} hold {rows:,} rows and the sources count "
                f"{manifest.counts[kind]:,}; the snapshot was not published."
            )


def _write_side_tables(store: Store, draft: Draft, manifest: Manifest) -> None:
    deletes = [
        {"chunk_id": chunk_id, "source_name": source}
        for source, chunk_ids in sorted(draft.deleted.items())
        for chunk_id in chunk_ids
    ]
    rejected = [_rejected_row(rejection) for rejection in draft.rejected]
    recipe = dict(draft.recipe)
    number = draft.number
    store.write(deletes_path(number), to_parquet(pa.Table.from_pylist(deletes, schema=DELETES), recipe))
    store.write(rejected_path(number), to_parquet(pa.Table.from_pylist(rejected, schema=REJECTED), recipe))
    store.write(report_path(number), _report(draft, manifest))


def _rejected_row(rejection: Rejection) -> dict[str, str | int]:
    row = asdict(rejection)
    row["source_name"] = row.pop("source")
    return row


def _report(draft: Draft, manifest: Manifest) -> bytes:
    report = {
        "snapshot": manifest.snapshot,
        "parent": manifest.parent,
        "counts": manifest.counts,
        "sources": {name: entry.counts for name, entry in manifest.sources.items()},
        "rejected": dict(Counter(rejection.reason for rejection in draft.rejected).most_common()),
        "files": len(manifest.files),
        "bytes": sum(file.bytes for file in manifest.files),
    }
    return json.dumps(report, indent=2, ensure_ascii=False).encode()

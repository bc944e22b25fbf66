"""The manifest of a snapshot: what it holds, made from what; written last, read first."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from transforms.model.errors import NotFoundError, TableError
from transforms.model.fusion import DEFAULT, Fusion
from transforms.model.shard import FileInfo
from transforms.table.damage import damaged, fault_of
from transforms.table.layout import (
    CHUNKS,
    DOCUMENTS,
    kind_of,
    manifest_path,
    shard_of,
    shard_path,
    snapshot_dir,
)
from transforms.table.versioned import check_version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from transforms.storage.protocol import Store

COUNTS = ("documents", "chunks", "embedded", "reused", "rejected", "deleted")
"""What is counted, for a snapshot and for each of its sources; `repeated` too, in all but the oldest tables."""


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """A source in the manifest: its partition and its counts."""

    slug: str
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything about a snapshot that its files do not say themselves."""

    schema_version: int
    snapshot: int
    parent: int | None
    created_at: str
    """UTC, ISO 8601: the only clock time in a snapshot."""
    program: str
    run_id: str
    recipe: dict[str, str]
    files: tuple[FileInfo, ...]
    sources: dict[str, SourceEntry]
    counts: dict[str, int]
    sparse: str | None = None
    """What made the sparse vectors, with its fingerprint; None: the table has none."""
    terms: FileInfo | None = None
    """The file of their terms' frequencies; None where the table has none."""
    search: Fusion = DEFAULT
    """How it is searched by vectors and words where nothing else is said."""


_MANIFEST = TypeAdapter(Manifest)


def summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The counts of several sources together, with every key of ``COUNTS``."""
    totals: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))
    for one in counts:
        totals.update(one)
    return dict(totals)


def to_json(manifest: Manifest) -> bytes:
    """UTF-8 JSON."""
    return _MANIFEST.dump_json(manifest, indent=2)


def read_manifest(store: Store, number: int) -> Manifest:
    """The manifest of one snapshot.

    Raises:
        TableError: there is no such snapshot, it is broken, or a newer program wrote it.
    """
    path = manifest_path(number)
    try:
        data = store.read(path)
    except NotFoundError as error:
        raise TableError(
            f"{store.root} has no published snapshot {number}: {store.uri(path)} is missing. `parquetry "
            f"snapshots {store.root}` lists those that are there. One that was lost can be put back from a backup, or "
            f"send readers to another with `parquetry rollback {store.root} --to N`."
        ) from error
    try:
        check_version(data, store.uri(path))
        manifest = _MANIFEST.validate_json(data)
    except ValueError as error:
        raise damaged(store, path, fault_of(error)) from error
    fault = next(faults(manifest), None)
    if manifest.snapshot != number:
        fault = f"it is that of snapshot {manifest.snapshot}"
    if fault is not None:
        raise damaged(store, path, f"is damaged: {fault}")
    return manifest


def faults(manifest: Manifest) -> Iterator[str]:
    """What contradicts itself: files where none can be, and counts that are not those of the files."""
    rows: Counter[tuple[str, str]] = Counter()
    for file in manifest.files:
        if not _is_in_place(file, manifest):
            yield f"no file of source `{file.source}` is called {file.path}"
        for name in (file.source, ""):
            rows[name, kind_of(file.path)] += file.rows
    yield from _miscounted("", manifest.counts, rows)
    for name, source in manifest.sources.items():
        yield from _miscounted(f" of source `{name}`", source.counts, rows, name)


def _is_in_place(file: FileInfo, manifest: Manifest) -> bool:
    """Whether the path is that of a shard's file of a source that the manifest counts."""
    source = manifest.sources.get(file.source)
    kind, number = kind_of(file.path), manifest.snapshot
    return (
        source is not None
        and kind in (CHUNKS, DOCUMENTS)
        and snapshot_dir(number) + file.path == shard_path(number, kind, source.slug, shard_of(file.path))
    )


def _miscounted(
    whose: str, counts: Mapping[str, int], rows: Mapping[tuple[str, str], int], name: str = ""
) -> Iterator[str]:
    for key in COUNTS:
        if key not in counts:
            yield f"the counts{whose} lack {key}"
    for kind in (CHUNKS, DOCUMENTS):
        held, counted = rows.get((name, kind), 0), counts.get(kind, 0)
        if held != counted:
            yield f"the {kind} files{whose} hold {held:,} rows and {counted:,} were counted"

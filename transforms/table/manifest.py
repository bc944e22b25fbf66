"""The manifest of a snapshot: what it holds, made from what; written last, read first."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from transforms.model.errors import NotFoundError, TableError
from transforms.model.shard import FileInfo
from transforms.table.layout import manifest_path
from transforms.table.versioned import check_version

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
        raise TableError(f"{store.root} has no published snapshot {number}.") from error
    check_version(data, store.uri(path))
    try:
        return _MANIFEST.validate_json(data)
    except ValidationError as error:
        raise TableError(f"{store.uri(path)} is no manifest of this program: {error}") from error

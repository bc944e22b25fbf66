"""The manifest of a snapshot: what it holds, made from what; written last, read first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from transforms.model.errors import NotFoundError, TableError
from transforms.model.shard import FileInfo
from transforms.table.layout import manifest_path
from transforms.table.schema import SCHEMA_VERSION

if TYPE_CHECKING:
    from transforms.storage.protocol import Store

COUNTS = ("documents", "chunks", "embedded", "reused", "rejected", "deleted")
"""What is counted, for a snapshot and for each of its sources."""


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
        manifest = _MANIFEST.validate_json(store.read(path))
    except NotFoundError as error:
        raise TableError(f"{store.root} has no published snapshot {number}.") from error
    except ValidationError as error:
        raise TableError(f"{store.uri(path)} is no manifest of this program: {error}") from error
    if manifest.schema_version > SCHEMA_VERSION:
        raise TableError(
            f"Snapshot {number} of {store.root} was written by {manifest.program} with schema version "
            f"{manifest.schema_version}; this program knows {SCHEMA_VERSION}. Upgrade it."
        )
    return manifest

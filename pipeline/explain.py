"""Everything that a table knows of one document: what it is now, why, and since when.

Read from the snapshots that are still there: what `vacuum` has removed is lost.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.terms import encoder_of, telling_terms
from transforms.model.errors import ConfigError, ParquetryError
from transforms.sparse.columns import INDICES, VALUES
from transforms.storage.registry import open_store
from transforms.table.damage import opened, read_parquet
from transforms.table.history import published
from transforms.table.layout import CHUNKS, DOCUMENTS, snapshot_dir
from transforms.table.reader import Snapshot
from transforms.table.terms import read_terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from transforms.storage.protocol import Store

_REASONS = (
    ("object_sha256", "its bytes changed"),
    ("extract_recipe", "what extracts it changed (settings, or the program)"),
    ("text_sha256", "its text changed"),
    ("chunk_recipe", "what cuts and composes it changed"),
    ("embed_recipe", "the model changed"),
    ("sparse_recipe", "what makes sparse vectors changed"),
    ("object_name", "its object was moved"),
)
"""Columns of the documents table of which a difference is a reason to build a document anew, in the order of work."""
_FACTS = (
    "source_name", "doc_id", "object_name", "doc_uri", "status", "media_type", "doc_title", "language",
    "object_size", "object_token", "object_checksum", "object_sha256", "text_sha256", "text_chars", "chunk_count",
    "extract_recipe", "chunk_recipe", "embed_recipe", "sparse_recipe", "metadata", "warnings", "changed_in",
)  # fmt: skip
_CHUNK_FACTS = (
    "chunk_id", "chunk_ref", "doc_id", "source_name", "chunk_index", "start", "end", "page_start", "section_path",
    "chars", "tokens", "embed_tokens", "cut", "strategy", "config_id", "embed_key", "embed_model", "warnings",
    "changed_in",
)  # fmt: skip
_OF_TERMS = ("embed_text", INDICES, VALUES)
_TERMS = 8
"""Terms of a chunk that are told."""
_KEYS = ("embed_key", "source_name", "doc_id")


@dataclass(frozen=True, slots=True)
class Event:
    """What one snapshot did with the document."""

    snapshot: int
    created_at: str
    what: str
    """new, rebuilt, unchanged, stale, rejected, gone or absent."""
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Vector:
    """Where the vector of a chunk comes from, as far back as snapshots are kept."""

    snapshot: int
    """The oldest snapshot that has it."""
    document: str | None = None
    """Whose text paid for it there, as source/doc_id; None: this document's own."""


@dataclass(frozen=True, slots=True)
class Explained:
    """One document."""

    facts: dict[str, Any]
    """Its row of the documents table, without text; empty where the newest snapshot does not have it."""
    rejection: dict[str, Any]
    """Its row of the rejected table; empty where there is none."""
    chunks: tuple[dict[str, Any], ...]
    """Rows of the chunk table, without texts and vectors, with the ``terms`` that tell each from others."""
    vectors: dict[str, Vector]
    """By embed_key."""
    history: tuple[Event, ...]
    """Oldest snapshot first."""
    without_terms: str = ""
    """Why no terms are told of a table that has them."""


def explain(table: str, document: str) -> list[Explained]:
    """What the table knows of each document of that URI, id, or ``source/id``: one a source that has it.

    Raises:
        ConfigError: no snapshot knows it.
        TableError: there is no table, or it is damaged.
    """
    store = open_store(table)
    newest = Snapshot.newest(store)
    manifests = [
        one for one in published(store, damaged_too=False) if one.snapshot <= newest.manifest.snapshot
    ]
    snapshots = [Snapshot(store, manifest) for manifest in manifests]
    files = _Files(store)
    rows = [_Known(files, snapshot, document) for snapshot in snapshots]
    names = {key for known in rows for key in (*known.rows, *known.rejections)}
    if not names:
        raise ConfigError(
            f"{table} knows no document {document}. Name it by its URI, by its id as `parquetry search` shows it, or "
            "as SOURCE/ID."
        )
    return [_explained(newest, snapshots, rows, name, files) for name in sorted(names)]


class _Files:
    """Reads columns of files, each file once: snapshots share most of theirs."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read: dict[tuple[str, tuple[str, ...]], pa.Table] = {}

    def tables(
        self, snapshot: Snapshot, kind: str, columns: Sequence[str]
    ) -> Iterator[tuple[str, pa.Table]]:
        """Of each file of a kind its hash and the columns."""
        for file in snapshot.files(kind):
            key = (file.sha256, tuple(columns))
            if key not in self._read:
                path = snapshot_dir(snapshot.manifest.snapshot) + file.path
                with opened(self._store, path) as found:
                    self._read[key] = read_parquet(found, list(columns))
            yield file.sha256, self._read[key]


class _Known:
    """The rows of one snapshot that a person may mean, by source and id."""

    def __init__(self, files: _Files, snapshot: Snapshot, document: str) -> None:
        self.snapshot = snapshot.manifest
        self.rows = {
            (row["source_name"], row["doc_id"]): row
            for _, table in files.tables(snapshot, DOCUMENTS, _FACTS)
            for row in _meant(table, document)
        }
        self.rejections = {
            (row["source_name"], row["doc_id"]): row for row in _meant(snapshot.rejected(), document)
        }


def _meant(table: pa.Table, document: str) -> list[dict[str, Any]]:
    named = pc.binary_join_element_wise(table["source_name"], table["doc_id"], "/")
    found = pc.equal(named, document)
    for column in ("doc_uri", "doc_id", "object_name"):
        found = pc.or_(found, pc.equal(table[column], document))
    rows: list[dict[str, Any]] = table.filter(found).to_pylist()
    return rows


def _explained(
    newest: Snapshot,
    snapshots: Sequence[Snapshot],
    known: Sequence[_Known],
    name: tuple[str, str],
    files: _Files,
) -> Explained:
    source, doc = name
    now = next(one for one in known if one.snapshot.snapshot == newest.manifest.snapshot)
    chunks = sorted(_chunks(newest, source, doc), key=lambda row: int(row["chunk_index"]))
    without_terms = _tell_terms(chunks, newest)
    keys = list(dict.fromkeys(row["embed_key"] for row in chunks))
    return Explained(
        facts=now.rows.get(name, {}),
        rejection=now.rejections.get(name, {}),
        chunks=tuple(chunks),
        vectors=_vectors(snapshots, keys, name, files),
        history=tuple(_history(known, name)),
        without_terms=without_terms,
    )


def _chunks(snapshot: Snapshot, source: str, doc: str) -> Iterator[dict[str, Any]]:
    if source not in snapshot.manifest.sources:
        return
    for batch in snapshot.chunks([*_CHUNK_FACTS, *_OF_TERMS], source=source):
        yield from batch.filter(pc.equal(batch["doc_id"], doc)).to_pylist()


def _tell_terms(chunks: Sequence[dict[str, Any]], snapshot: Snapshot) -> str:
    """Replace what terms are told from by ``terms``, in each chunk that has a sparse vector; why not, if not."""
    given = [[row.pop(name) for name in _OF_TERMS] for row in chunks]
    if snapshot.manifest.sparse is None or not chunks:
        return ""
    try:
        encoder, statistics = encoder_of(snapshot, snapshot.store.root), read_terms(snapshot)
        for row, (text, ids, weights) in zip(chunks, given, strict=True):
            vector = dict(zip(ids or (), weights or (), strict=True))
            row["terms"] = [asdict(one) for one in telling_terms(vector, text, encoder, statistics, _TERMS)]
    except ParquetryError as error:
        return str(error)
    return ""


def _vectors(
    snapshots: Sequence[Snapshot], keys: Sequence[str], name: tuple[str, str], files: _Files
) -> dict[str, Vector]:
    found: dict[str, Vector] = {}
    seen: set[str] = set()
    for snapshot in snapshots:
        left = pa.array([key for key in keys if key not in found], pa.string())
        owners: dict[str, set[tuple[str, str]]] = {}
        for sha256, table in files.tables(snapshot, CHUNKS, _KEYS) if len(left) else ():
            if sha256 in seen:
                continue
            seen.add(sha256)
            for row in table.filter(pc.is_in(table["embed_key"], left)).to_pylist():
                owners.setdefault(row["embed_key"], set()).add((row["source_name"], row["doc_id"]))
        for key, documents in owners.items():
            other = None if name in documents else "/".join(min(documents))
            found[key] = Vector(snapshot.manifest.snapshot, other)
    return found


def _history(known: Sequence[_Known], name: tuple[str, str]) -> Iterator[Event]:
    before: dict[str, Any] | None = None
    seen = False
    for one in known:
        row, rejection = one.rows.get(name), one.rejections.get(name)
        what, why = _event(before, row, rejection, one.snapshot.snapshot)
        if seen or what != "absent":
            yield Event(one.snapshot.snapshot, one.snapshot.created_at, what, why)
            seen = True
        before = row


def _event(
    before: dict[str, Any] | None,
    row: dict[str, Any] | None,
    rejection: dict[str, Any] | None,
    snapshot: int,
) -> tuple[str, tuple[str, ...]]:
    refused = () if rejection is None else (f"{rejection['reason']}: {rejection['detail']}",)
    if row is None:
        if refused:
            return "rejected", refused
        return ("gone" if before is not None else "absent"), ()
    if row["status"] == "stale":
        return "stale", refused
    if before is None:
        return "new", refused
    why = tuple(reason for column, reason in _REASONS if before.get(column) != row.get(column))
    if why or row["changed_in"] == snapshot:
        return "rebuilt", (*why, *refused)
    return "unchanged", refused

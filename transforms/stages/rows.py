"""Lay documents and their chunks out as rows of the table, still without vectors.

Column by column: a row as an object costs more than what is in it.
"""

from __future__ import annotations

import json
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from transforms.chunkers.header import header_of
from transforms.compose import document_title
from transforms.model.ids import chunk_ids, embed_keys, plain_id, sha256_hex
from transforms.storage.registry import open_store
from transforms.table.schema import CHUNKS, DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from transforms.embedders.protocol import Embedder
    from transforms.model.chunk import Chunk
    from transforms.stages.job import Job, SourceSpec
    from transforms.stages.work import SourceDocument

TASK = "document"
_OF_CHUNK = (
    "text", "tokens", "counter", "embed_text", "embed_tokens", "section_title", "section_path",
    "section_level", "section_titles", "breadcrumb", "page_start", "page_end", "context_start",
    "context_end", "context_after_start", "context_after_end", "entity_id", "entity_mentions",
)  # fmt: skip
_OF_CUT = (
    "start", "end", "semantic_group", "distance_before", "distance_after", "step_first", "step_last",
    "step_total",
)  # fmt: skip


_OF_DOCUMENT = {
    "doc_id": "doc_id", "doc_uri": "doc_uri", "doc_sha256": "text_sha256", "doc_chars": "text_chars",
    "chunk_count": "chunk_count", "metadata": "metadata",
}  # fmt: skip
"""Columns of chunks that are columns of their documents, and what they are called there."""


def document_rows(
    documents: Sequence[SourceDocument], counts: Sequence[int], source: SourceSpec, job: Job
) -> pa.Table:
    """One row a document; ``counts`` are the numbers of their chunks."""
    store = open_store(source.root)
    read = [doc.document for doc in documents]
    infos = [doc.info for doc in documents]
    count = len(documents)
    return _table(
        DOCUMENTS,
        {
            "source_name": _constant(source.name, count),
            "doc_id": [doc.doc_id for doc in documents],
            "object_name": [info.name for info in infos],
            "doc_uri": [store.uri(info.name) for info in infos],
            "status": ["ok" if chunks else "empty" for chunks in counts],
            "object_size": [info.size for info in infos],
            "object_token": [info.token for info in infos],
            "object_checksum": [info.checksum or None for info in infos],
            "object_sha256": [doc.object_sha256 for doc in documents],
            "media_type": [document.media_type for document in read],
            "doc_title": [document.title for document in read],
            "language": [document.language for document in read],
            "metadata": [_json(document.metadata) for document in read],
            "warnings": [document.warnings for document in read],
            "text": [document.text if source.store_text else None for document in read],
            "text_sha256": [sha256_hex(document.text) for document in read],
            "text_chars": [len(document.text) for document in read],
            "blocks": _structs([document.blocks for document in read], DOCUMENTS.field("blocks").type),
            "pages": _structs([document.pages for document in read], DOCUMENTS.field("pages").type),
            "chunk_count": counts,
            "extract_recipe": _constant(source.recipe.extract, count),
            "chunk_recipe": _constant(source.recipe.chunk, count),
            "embed_recipe": _constant(source.recipe.embed, count),
            "sparse_recipe": pa.array([source.recipe.sparse] * count, pa.string()),
            "changed_in": _constant(job.snapshot, count),
        },
    )


def chunk_rows(
    documents: Sequence[SourceDocument],
    rows: pa.Table,
    cut: Sequence[Sequence[Chunk]],
    source: SourceSpec,
    job: Job,
    embedder: Embedder,
) -> pa.Table:
    """One row a chunk, in the order of the documents, whose own ``rows`` are given."""
    chunks = list(chain.from_iterable(cut))
    columns = _document_columns(documents, rows, cut, source)
    columns |= _chunk_columns(chunks)
    columns |= _identity_columns(documents, cut, columns["text_sha256"], source)
    columns |= {
        "embed_key": list(embed_keys(embedder.name, embedder.dimension, TASK, columns["embed_sha256"])),
        "source_name": _constant(source.name, len(chunks)),
        "strategy": _constant(source.chunk.strategy, len(chunks)),
        "config_id": _constant(source.recipe.chunk, len(chunks)),
        "changed_in": _constant(job.snapshot, len(chunks)),
    }
    unknown = {
        name: pa.nulls(len(chunks), CHUNKS.field(name).type) for name in set(CHUNKS.names) - set(columns)
    }
    return _table(CHUNKS, columns | unknown)


def _document_columns(
    documents: Sequence[SourceDocument], rows: pa.Table, cut: Sequence[Sequence[Chunk]], source: SourceSpec
) -> dict[str, Any]:
    """Columns that are equal in all rows of a document: computed once for each, then repeated."""
    places = pa.array(np.repeat(np.arange(len(documents)), [len(chunks) for chunks in cut]))
    titles = [document_title(doc.document, plain_id(doc.doc_id), source.chunk) for doc in documents]
    headers = [header_of(doc.document, source.chunk) for doc in documents]
    of_document: dict[str, list[Any]] = {
        "doc_title": [title.text for title in titles],
        "doc_title_from": [title.origin for title in titles],
        "doc_type": [source.chunk.doc_type_of(doc.document.metadata) for doc in documents],
        "doc_number": [header.doc_number for header in headers],
        "revision": [header.revision for header in headers],
        "authorising_role": [header.authorising_role for header in headers],
        "effective_date": [header.effective_date for header in headers],
        "effective_date_raw": [header.effective_date_raw for header in headers],
    }
    columns = {name: pa.array(values, CHUNKS.field(name).type) for name, values in of_document.items()}
    columns |= {name: rows[theirs].combine_chunks() for name, theirs in _OF_DOCUMENT.items()}
    return {name: values.take(places) for name, values in columns.items()}


def _chunk_columns(chunks: Sequence[Chunk]) -> dict[str, Any]:
    """Columns that stand in the chunk as they are, or follow from it alone."""
    cuts = [chunk.cut for chunk in chunks]
    columns: dict[str, Any] = _attributes(chunks, _OF_CHUNK) | _attributes(cuts, _OF_CUT)
    columns["cut"] = [cut.kind for cut in cuts]
    columns["warnings"] = [(*chunk.cut.warnings, *chunk.warnings) for chunk in chunks]
    columns["chars"] = list(map(len, columns["text"]))
    columns["text_sha256"] = list(map(sha256_hex, columns["text"]))
    columns["embed_sha256"] = list(map(sha256_hex, columns["embed_text"]))
    return columns


def _identity_columns(
    documents: Sequence[SourceDocument],
    cut: Sequence[Sequence[Chunk]],
    text_hashes: Sequence[str],
    source: SourceSpec,
) -> dict[str, list[Any]]:
    """Ids, places and neighbours within each document."""
    columns: dict[str, list[Any]] = {
        name: [] for name in ("chunk_id", "chunk_ref", "chunk_index", "prev_id", "next_id")
    }
    first = 0
    for doc, chunks in zip(documents, cut, strict=True):
        last = first + len(chunks)
        ids = list(chunk_ids(source.name, doc.doc_id, text_hashes[first:last]))
        columns["chunk_id"] += ids
        columns["chunk_ref"] += [f"{doc.doc_id}::{n}" for n in range(1, len(ids) + 1)]
        columns["chunk_index"] += range(len(ids))
        columns["prev_id"] += [None, *ids][: len(ids)]
        columns["next_id"] += [*ids, None][1:] if ids else []
        first = last
    return columns


def _attributes(records: Sequence[object], names: Sequence[str]) -> dict[str, Sequence[Any]]:
    """The attributes of records, each as a column."""
    rows = map(attrgetter(*names), records)
    return dict(zip(names, zip(*rows, strict=True), strict=True)) if records else dict.fromkeys(names, ())


def _structs(groups: Sequence[Sequence[object]], kind: pa.ListType) -> pa.ListArray:
    """One list of structs a row; a struct's fields are the attributes of the same names."""
    fields = list(kind.value_type)
    columns = _attributes(list(chain.from_iterable(groups)), [field.name for field in fields])
    values = pa.StructArray.from_arrays(
        [pa.array(columns[field.name], field.type) for field in fields], fields=fields
    )
    offsets = np.cumsum([0, *map(len, groups)])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values, type=kind)


def _table(schema: pa.Schema, columns: Mapping[str, Any]) -> pa.Table:
    return pa.table([_array(columns[field.name], field.type) for field in schema], schema=schema)


def _array(values: Iterable[Any] | pa.Array, kind: pa.DataType) -> pa.Array:
    return values if isinstance(values, pa.Array) else pa.array(values, kind)


def _constant(value: str | int, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(value), count)


def _json(metadata: Mapping[str, Any]) -> str:
    if not metadata:
        return "{}"
    return json.dumps(dict(metadata), sort_keys=True, ensure_ascii=False, allow_nan=False, default=str)

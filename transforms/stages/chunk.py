"""Cut a shard's documents and lay the chunks out as rows of the table, still without vectors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from transforms.chunkers.chunk import chunk_document
from transforms.chunkers.header import header_of
from transforms.compose import document_title
from transforms.embedders.registry import make_embedder
from transforms.model.ids import chunk_ids, embed_key, sha256_hex
from transforms.stages.work import ChunkedShard
from transforms.storage.registry import open_store
from transforms.table.schema import CHUNKS, DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transforms.embedders.protocol import Embedder
    from transforms.model.chunk import Chunk
    from transforms.stages.job import Job, SourceSpec
    from transforms.stages.work import ExtractedShard, SourceDocument

TASK = "document"


def chunk_shard(shard: ExtractedShard, job: Job) -> ChunkedShard:
    """Rows for every document of the shard, documents and chunks in the order of the documents."""
    source = job.source[shard.plan.source]
    embedder = make_embedder(job.embedder)
    counter, max_tokens = embedder.counter, embedder.max_tokens
    cut = [
        chunk_document(doc.document, doc.doc_id, source.chunk, counter, max_tokens, embedder.embed)
        for doc in shard.documents
    ]
    return ChunkedShard(
        plan=shard.plan,
        carried=shard.carried,
        documents=_document_rows(shard.documents, cut, source, job),
        chunks=_chunk_rows(shard.documents, cut, source, job, embedder),
        touched=shard.touched,
        rejections=shard.rejections,
    )


def _document_rows(
    documents: Sequence[SourceDocument], cut: Sequence[Sequence[Chunk]], source: SourceSpec, job: Job
) -> pa.Table:
    store = open_store(source.root)
    rows = []
    for doc, chunks in zip(documents, cut, strict=True):
        document = doc.document
        rows.append(
            {
                "source_name": source.name,
                "doc_id": doc.doc_id,
                "object_name": doc.info.name,
                "doc_uri": store.uri(doc.info.name),
                "status": "ok" if chunks else "empty",
                "object_size": doc.info.size,
                "object_token": doc.info.token,
                "object_sha256": doc.object_sha256,
                "media_type": document.media_type,
                "doc_title": document.title,
                "language": document.language,
                "metadata": _json(document.metadata),
                "warnings": document.warnings,
                "text": document.text if source.store_text else None,
                "text_sha256": sha256_hex(document.text),
                "text_chars": len(document.text),
                "blocks": [
                    {
                        "kind": block.kind.value,
                        "start": block.start,
                        "end": block.end,
                        "level": block.level,
                        "title": block.title,
                        "language": block.language,
                    }
                    for block in document.blocks
                ],
                "pages": [
                    {"start": page.start, "end": page.end, "number": page.number, "label": page.label}
                    for page in document.pages
                ],
                "chunk_count": len(chunks),
                "extract_recipe": source.recipe.extract,
                "chunk_recipe": source.recipe.chunk,
                "embed_recipe": source.recipe.embed,
                "changed_in": job.snapshot,
            }
        )
    return pa.Table.from_pylist(rows, schema=DOCUMENTS)


def _chunk_rows(
    documents: Sequence[SourceDocument],
    cut: Sequence[Sequence[Chunk]],
    source: SourceSpec,
    job: Job,
    embedder: Embedder,
) -> pa.Table:
    chunks = [chunk for of_document in cut for chunk in of_document]
    counts = np.array([len(of_document) for of_document in cut], dtype=np.int64)
    columns = _document_columns(documents, counts, source)
    columns |= _chunk_columns(chunks)
    columns |= _identity_columns(documents, cut, source, embedder)
    columns |= {
        "source_name": _constant(source.name, len(chunks)),
        "strategy": _constant(source.chunk.strategy, len(chunks)),
        "config_id": _constant(source.recipe.chunk, len(chunks)),
        "changed_in": _constant(job.snapshot, len(chunks)),
    }
    arrays = [
        pa.nulls(len(chunks), field.type) if field.name not in columns else columns[field.name]
        for field in CHUNKS
    ]
    return pa.table(
        [
            array if isinstance(array, pa.Array) else pa.array(array, field.type)
            for array, field in zip(arrays, CHUNKS, strict=True)
        ],
        schema=CHUNKS,
    )


def _constant(value: str | int, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(value), count)


def _document_columns(
    documents: Sequence[SourceDocument], counts: np.ndarray[Any, Any], source: SourceSpec
) -> dict[str, Any]:
    """Columns that are equal in all rows of a document: computed once for each, then repeated."""
    store = open_store(source.root)
    places = pa.array(np.repeat(np.arange(len(documents)), counts))
    titles = [document_title(doc.document, doc.doc_id, source.chunk) for doc in documents]
    headers = [header_of(doc.document, source.chunk) for doc in documents]
    of_document: dict[str, list[Any]] = {
        "doc_id": [doc.doc_id for doc in documents],
        "doc_uri": [store.uri(doc.info.name) for doc in documents],
        "doc_title": [title.text for title in titles],
        "doc_title_from": [title.origin for title in titles],
        "doc_type": [source.chunk.doc_type_of(doc.document.metadata) for doc in documents],
        "doc_sha256": [sha256_hex(doc.document.text) for doc in documents],
        "doc_chars": [len(doc.document.text) for doc in documents],
        "chunk_count": counts.tolist(),
        "doc_number": [header.doc_number for header in headers],
        "revision": [header.revision for header in headers],
        "authorising_role": [header.authorising_role for header in headers],
        "effective_date": [header.effective_date for header in headers],
        "effective_date_raw": [header.effective_date_raw for header in headers],
        "metadata": [_json(doc.document.metadata) for doc in documents],
    }
    return {
        name: pa.array(values, CHUNKS.field(name).type).take(places) for name, values in of_document.items()
    }


def _chunk_columns(chunks: Sequence[Chunk]) -> dict[str, Any]:
    """Columns that stand in the chunk as they are."""
    own = (
        "text", "tokens", "counter", "embed_text", "embed_tokens", "section_title", "section_path",
        "section_level", "section_titles", "breadcrumb", "page_start", "page_end", "context_start",
        "context_end", "entity_id", "entity_mentions",
    )  # fmt: skip
    of_cut = (
        "start", "end", "semantic_group", "distance_before", "distance_after", "step_first",
        "step_last", "step_total",
    )  # fmt: skip
    columns: dict[str, Any] = {name: [getattr(chunk, name) for chunk in chunks] for name in own}
    columns |= {name: [getattr(chunk.cut, name) for chunk in chunks] for name in of_cut}
    columns["cut"] = [chunk.cut.kind.value for chunk in chunks]
    columns["warnings"] = [(*chunk.cut.warnings, *chunk.warnings) for chunk in chunks]
    columns["chars"] = [len(chunk.text) for chunk in chunks]
    columns["text_sha256"] = [sha256_hex(chunk.text) for chunk in chunks]
    columns["embed_sha256"] = [sha256_hex(chunk.embed_text) for chunk in chunks]
    return columns


def _identity_columns(
    documents: Sequence[SourceDocument],
    cut: Sequence[Sequence[Chunk]],
    source: SourceSpec,
    embedder: Embedder,
) -> dict[str, Any]:
    """Ids, places and neighbours within each document, and the name of each vector."""
    columns: dict[str, list[Any]] = {
        name: [] for name in ("chunk_id", "chunk_ref", "chunk_index", "prev_id", "next_id")
    }
    for doc, chunks in zip(documents, cut, strict=True):
        ids = list(chunk_ids(source.name, doc.doc_id, (sha256_hex(chunk.text) for chunk in chunks)))
        columns["chunk_id"] += ids
        columns["chunk_ref"] += [f"{doc.doc_id}::{n}" for n in range(1, len(ids) + 1)]
        columns["chunk_index"] += range(len(ids))
        columns["prev_id"] += [None, *ids][: len(ids)]
        columns["next_id"] += [*ids, None][1:] if ids else []
    columns["embed_key"] = [
        embed_key(embedder.name, embedder.dimension, TASK, chunk.embed_text)
        for chunks in cut
        for chunk in chunks
    ]
    return columns


def _json(metadata: Any) -> str:
    return json.dumps(dict(metadata), sort_keys=True, ensure_ascii=False, allow_nan=False, default=str)

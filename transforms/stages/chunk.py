"""Cut a shard's documents; the chunks come out as rows of the table, still without vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.chunkers.chunk import chunk_document
from transforms.embedders.protocol import StoppedError
from transforms.model.errors import BudgetReachedError
from transforms.model.ids import plain_id
from transforms.stages.embedder import embedder_of
from transforms.stages.rows import chunk_rows, document_rows
from transforms.stages.work import ChunkedShard
from transforms.table.schema import CHUNKS, DOCUMENTS

if TYPE_CHECKING:
    from transforms.stages.job import Job
    from transforms.stages.work import ExtractedShard


def chunk_shard(shard: ExtractedShard, job: Job) -> ChunkedShard:
    """Rows for every document of the shard, documents and chunks in the order of the documents."""
    source = job.source[shard.plan.source]
    embedder = embedder_of(job)
    counter, max_tokens = embedder.counter, embedder.max_tokens
    try:
        cut = [
            chunk_document(
                doc.document, plain_id(doc.doc_id), source.chunk, counter, max_tokens, embedder.embed
            )
            for doc in shard.documents
        ]
    except StoppedError as stopped:
        if not isinstance(stopped.cause, BudgetReachedError):
            raise stopped.cause from stopped
        return ChunkedShard(
            shard.plan, shard.carried, DOCUMENTS.empty_table(), CHUNKS.empty_table(), stopped=True
        )
    return ChunkedShard(
        plan=shard.plan,
        carried=shard.carried,
        documents=document_rows(shard.documents, cut, source, job),
        chunks=chunk_rows(shard.documents, cut, source, job, embedder),
        touched=shard.touched,
        rejections=shard.rejections,
    )

"""Cut a shard's documents; the chunks come out as rows of the table, still without vectors.

What is cut already stays cut: documents whose text came out as it was, and rows that only another model
makes differ.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from transforms.chunkers.chunk import chunk_document
from transforms.embedders.protocol import StoppedError
from transforms.model.errors import BudgetReachedError
from transforms.model.ids import plain_id
from transforms.stages.embedder import embedder_of
from transforms.stages.renew import renewed_chunks, renewed_documents
from transforms.stages.rows import chunk_rows, document_rows
from transforms.stages.stored import cut_already
from transforms.stages.timing import timed
from transforms.stages.work import ChunkedShard
from transforms.table.schema import CHUNKS, DOCUMENTS

if TYPE_CHECKING:
    from transforms.stages.job import Job
    from transforms.stages.work import ExtractedShard


@timed("chunk")
def chunk_shard(shard: ExtractedShard, job: Job) -> ChunkedShard:
    """Rows for every document of the shard that was worked on."""
    source = job.source[shard.plan.source]
    former = shard.carried.documents
    embedder = embedder_of(job)
    counter, max_tokens = embedder.counter, embedder.max_tokens
    counts = {} if job.full else cut_already(shard.documents, former, source.recipe)
    to_cut = [doc for doc in shard.documents if doc.doc_id not in counts]
    same = [doc for doc in shard.documents if doc.doc_id in counts]
    comparer = source.chunk.semantic.embedder
    embed = (embedder_of(job, comparer) if comparer else embedder).embed
    try:
        cut = [
            chunk_document(doc.document, plain_id(doc.doc_id), source.chunk, counter, max_tokens, embed)
            for doc in to_cut
        ]
    except StoppedError as stopped:
        if not isinstance(stopped.cause, BudgetReachedError):
            raise stopped.cause from stopped
        return ChunkedShard(
            shard.plan, shard.carried, DOCUMENTS.empty_table(), CHUNKS.empty_table(), stopped=True
        )
    infos = {info.name: info for info in shard.renew}
    renewed = renewed_documents(former, infos, source.recipe, job.snapshot)
    kept = [*counts, *renewed["doc_id"].to_pylist()]
    rows = document_rows(to_cut, [len(chunks) for chunks in cut], source, job)
    return ChunkedShard(
        plan=shard.plan,
        carried=shard.carried,
        documents=pa.concat_tables(
            [
                rows,
                document_rows(same, [counts[doc.doc_id] for doc in same], source, job),
                renewed,
            ]
        ),
        chunks=pa.concat_tables(
            [
                chunk_rows(to_cut, rows, cut, source, job, embedder),
                renewed_chunks(shard.carried.chunks, kept, embedder, source, job),
            ]
        ),
        touched=shard.touched,
        rejections=shard.rejections,
        work=replace(shard.work, chunked=len(to_cut)),
    )

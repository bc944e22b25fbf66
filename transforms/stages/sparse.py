"""Give every new row its sparse vector: that of a former row with the same text, else what the encoder says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from transforms.embedders.share import Share
from transforms.sparse.columns import INDICES, VALUES, to_columns
from transforms.sparse.registry import make_sparse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from transforms.sparse.protocol import SparseEncoder
    from transforms.stages.job import Job
    from transforms.stages.work import ChunkedShard


def sparse_of(job: Job) -> SparseEncoder | None:
    """The encoder of a job in this process, with its part of the machine's cores; None where it has none."""
    return make_sparse(job.sparse, Share(job.workers))


def sparse_columns(shard: ChunkedShard, job: Job) -> Mapping[str, pa.ChunkedArray]:
    """The columns of the shard's new rows; none where the table has no sparse vectors.

    A text that stands in rows of today's recipe is not analysed again, but in a full run.
    """
    encoder = sparse_of(job)
    if encoder is None:
        return {}
    texts = shard.chunks["embed_sha256"]
    known = _known(shard, job)
    found = pc.index_in(texts, value_set=known["embed_sha256"].combine_chunks())
    is_new = found.is_null()
    distinct = pc.unique(texts.filter(is_new))
    first = pc.index_in(distinct, value_set=texts.combine_chunks())
    new = to_columns(encoder.encode(shard.chunks["embed_text"].take(first).to_pylist()))
    # Known rows first, those of new texts behind them.
    behind = pc.add(pc.index_in(texts, value_set=distinct), known.num_rows)
    rows = pc.if_else(is_new, behind, found)
    return {
        name: pa.chunked_array([*known[name].chunks, new[name]]).take(rows) for name in (INDICES, VALUES)
    }


def _known(shard: ChunkedShard, job: Job) -> pa.Table:
    """Former rows whose sparse vectors are of today's recipe."""
    rows = shard.carried.chunks.select(["doc_id", "embed_sha256", INDICES, VALUES])
    documents = shard.carried.documents
    today = job.source[shard.plan.source].recipe.sparse
    same = documents.filter(pc.equal(documents["sparse_recipe"], today))["doc_id"]
    if job.full or not len(same):
        return rows.slice(0, 0)
    return rows.filter(pc.is_in(rows["doc_id"], same.combine_chunks()))

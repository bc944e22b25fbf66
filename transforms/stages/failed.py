"""Documents that cannot be read again, in a run whose model is another: their last good rows are embedded anew.

A table holds vectors of one model, and sparse ones of one encoder. What such a document's rows were embedded from is
in the rows themselves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.embedders.protocol import TakesLongTexts
from transforms.sparse.columns import INDICES, VALUES
from transforms.stages.merge import is_carried
from transforms.stages.renew import NO_VECTOR, of_today, renewed_chunks
from transforms.table.columns import count_true, replace_column
from transforms.table.schema import CHUNKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from transforms.embedders.protocol import Embedder
    from transforms.stages.job import Job, SourceSpec
    from transforms.stages.work import ChunkedShard

_OF_MODEL = ("embedding", "embedding_int8", "embedding_bits", "embed_dim", "embed_model")


def with_failed(shard: ChunkedShard, job: Job, embedder: Embedder) -> ChunkedShard:
    """The shard with the rows that stay, but have another model's vectors, among those to embed."""
    source = job.source[shard.plan.source]
    former = shard.carried.documents
    # A run about a part of the table leaves the rest with other sparse vectors, or none; that is no failure.
    other_terms = pc.and_(_has_failed(shard), _of_other_terms(former, source))
    made_otherwise = pc.and_(is_carried(shard), pc.or_(_of_another_model(former, source), other_terms))
    if not count_true(made_otherwise):
        return shard
    documents = former.filter(made_otherwise)
    ids = documents["doc_id"].combine_chunks()
    chunks = renewed_chunks(shard.carried.chunks, ids.to_pylist(), embedder, source, job)
    stale = tuple(one for one in shard.carried.stale if one not in set(ids.to_pylist()))
    documents = of_today(documents, source.recipe, job.snapshot)
    documents = replace_column(documents, "status", pa.repeat(pa.scalar("stale"), documents.num_rows))
    return replace(
        shard,
        carried=replace(shard.carried, stale=stale),
        documents=pa.concat_tables([shard.documents, documents]),
        chunks=pa.concat_tables([shard.chunks, chunks]),
    )


def within_input(chunks: pa.Table, embedder: Embedder) -> NDArray[np.bool_]:
    """Which chunks the model takes, in one way or another.

    Not, if it takes no long texts, rows that stay and were composed for a model with a longer input.
    """
    if embedder.max_tokens is None or isinstance(embedder, TakesLongTexts):
        return np.ones(chunks.num_rows, dtype=np.bool_)
    return np.asarray(chunks["embed_tokens"].to_numpy() <= embedder.max_tokens)


def without_other_vectors(chunks: pa.Table, documents: pa.Table, source: SourceSpec) -> pa.Table:
    """Former rows of former documents, without vectors that another model made, and without other sparse ones."""

    def of(documents_of: pa.ChunkedArray) -> pa.ChunkedArray:
        return pc.is_in(chunks["doc_id"], documents.filter(documents_of)["doc_id"].combine_chunks())

    table = _emptied(chunks, (INDICES, VALUES), of(_of_other_terms(documents, source)))
    other_model = of(_of_another_model(documents, source))
    if not count_true(other_model):
        return table
    table = _emptied(table, _OF_MODEL, other_model)
    pairs = zip(chunks["warnings"].to_pylist(), other_model.to_pylist(), strict=True)
    warnings = [[*w, NO_VECTOR] if marked and NO_VECTOR not in w else w for w, marked in pairs]
    return replace_column(table, "warnings", pa.array(warnings, CHUNKS.field("warnings").type))


def _emptied(chunks: pa.Table, names: Sequence[str], rows: pa.ChunkedArray) -> pa.Table:
    """The chunks with nothing in some columns of some rows."""
    for name in names if count_true(rows) else ():
        nothing = pa.nulls(chunks.num_rows, CHUNKS.field(name).type)
        chunks = replace_column(chunks, name, pc.if_else(pc.invert(rows), chunks[name], nothing))
    return chunks


def _has_failed(shard: ChunkedShard) -> pa.ChunkedArray:
    """Which former documents could not be read again in this run."""
    objects = pa.array([rejection.object_name for rejection in shard.rejections], pa.string())
    documents = shard.carried.documents
    stale = pc.is_in(documents["doc_id"], pa.array(shard.carried.stale, pa.string()))
    return pc.or_(pc.is_in(documents["object_name"], objects), stale)


def _of_another_model(documents: pa.Table, source: SourceSpec) -> pa.ChunkedArray:
    return pc.not_equal(documents["embed_recipe"], source.recipe.embed)


def _of_other_terms(documents: pa.Table, source: SourceSpec) -> pa.ChunkedArray:
    """Which documents' sparse vectors were made otherwise, or are not there, or are to go."""
    return pc.not_equal(pc.fill_null(documents["sparse_recipe"], ""), source.recipe.sparse or "")

"""Give every chunk its vector: from the rows the shard had before, else from the embedder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.embedders.batching import embed_distinct
from transforms.embedders.protocol import RefusesTexts
from transforms.embedders.registry import make_embedder
from transforms.stages.refused import without_refused
from transforms.stages.work import EmbeddedShard
from transforms.table.columns import replace_column
from transforms.table.schema import CHUNKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from transforms.embedders.protocol import Embedder
    from transforms.stages.job import Job
    from transforms.stages.work import ChunkedShard

NO_VECTOR = "no_vector"
"""Warning on a chunk whose text the model knows nothing of; its embedding is null."""


def embed_shard(shard: ChunkedShard, job: Job) -> EmbeddedShard:
    """Complete the shard's new rows.

    A vector is named by its ``embed_key``; one that the shard's former rows have is carried over and
    never paid for again, and each distinct text that is left is embedded once.
    """
    embedder = make_embedder(job.embedder)
    vectors, missing = _known_vectors(shard, embedder.dimension)
    keys = shard.chunks["embed_key"].to_pylist()
    texts = shard.chunks["embed_text"]
    distinct = {keys[place]: place for place in reversed(missing.tolist())}
    places = sorted(distinct.values())
    new = embed_distinct(embedder, [texts[place].as_py() for place in places])
    row_of = {keys[place]: row for row, place in enumerate(places)}
    for place in missing.tolist():
        vectors[place] = new[row_of[keys[place]]]
    tokens = shard.chunks["embed_tokens"].take(pa.array(places, pa.int64()))
    chunks = _with_vectors(shard.chunks, vectors, embedder.name)
    documents, chunks, refused = without_refused(
        shard, chunks, embedder, missing, job.source[shard.plan.source]
    )
    return EmbeddedShard(
        plan=shard.plan,
        carried=shard.carried,
        documents=documents,
        chunks=chunks,
        embedded=len(places),
        embedded_tokens=pc.sum(tokens).as_py() or 0,
        touched=shard.touched,
        rejections=(*shard.rejections, *refused),
        empty=_empty(embedder, [texts[place].as_py() for place in places], new),
    )


def _empty(embedder: Embedder, texts: Sequence[str], vectors: NDArray[np.float32]) -> int:
    """How many texts have no vector although nobody refused them."""
    none = np.flatnonzero(np.isnan(vectors).all(axis=1)).tolist()
    if isinstance(embedder, RefusesTexts):
        return sum(embedder.refusal(texts[place]) is None for place in none)
    return len(none)


def _known_vectors(shard: ChunkedShard, dimension: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The vectors that the carried rows have, and the places that still need one.

    A known text without a vector stays without: it was asked for once, under the same key.
    """
    keys = shard.chunks["embed_key"]
    vectors = np.full((len(keys), dimension), np.nan, dtype=np.float32)
    old = shard.carried.chunks
    found = pc.index_in(keys, value_set=old["embed_key"].combine_chunks())
    known = np.flatnonzero(found.is_valid().to_numpy())
    if len(known):
        rows = old["embedding"].take(found.filter(found.is_valid())).combine_chunks()
        filled = rows.is_valid().to_numpy(zero_copy_only=False)
        vectors[known[filled]] = rows.flatten().to_numpy().reshape(-1, dimension)
    return vectors, np.flatnonzero(found.is_null().to_numpy())


def _with_vectors(chunks: pa.Table, vectors: NDArray[np.float32], model: str) -> pa.Table:
    has_vector = np.asarray(np.isfinite(vectors).all(axis=1))
    lengths = np.where(has_vector, vectors.shape[1], 0)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    embedding = pa.ListArray.from_arrays(
        pa.array(offsets),
        pa.array(vectors[has_vector].ravel()),
        type=CHUNKS.field("embedding").type,
        mask=pa.array(~has_vector),
    )
    dimension = pa.array(np.full(len(vectors), vectors.shape[1], dtype=np.int32), mask=~has_vector)
    models = pa.array([model if ok else None for ok in has_vector], pa.string())
    table = replace_column(chunks, "embedding", embedding)
    table = replace_column(table, "embed_dim", dimension)
    table = replace_column(table, "embed_model", models)
    if has_vector.all():
        return table
    warnings = chunks["warnings"].to_pylist()
    marked = [w if ok else [*w, NO_VECTOR] for w, ok in zip(warnings, has_vector, strict=True)]
    return replace_column(table, "warnings", pa.array(marked, CHUNKS.field("warnings").type))

"""Give every chunk its vector: from the rows the shard had before, else from the embedder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.embedders.batching import embed_distinct
from transforms.embedders.protocol import (
    NOT_FINITE,
    GivesNotice,
    RefusesTexts,
    StoppedError,
    TakesLongTexts,
)
from transforms.embedders.vectors import as_bits, as_int8
from transforms.model.errors import BudgetReachedError
from transforms.stages.embedder import embedder_of
from transforms.stages.failed import with_failed, within_input
from transforms.stages.kept import fill_from_kept, keep_vectors
from transforms.stages.recall import recall_of
from transforms.stages.refused import without_refused
from transforms.stages.renew import NO_VECTOR
from transforms.stages.sparse import sparse_columns
from transforms.stages.timing import timed
from transforms.stages.work import EmbeddedShard
from transforms.table.columns import replace_column
from transforms.table.schema import CHUNKS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from transforms.embedders.protocol import Embedder
    from transforms.embedders.settings import Form
    from transforms.stages.job import Job
    from transforms.stages.work import ChunkedShard

MARKS: Mapping[str | None, str] = {"split": "embedded_in_parts", "truncate": "embedded_in_part"}
"""Warnings on a chunk whose text is over the model's input, by what was done: a mean, or its beginning only."""


@timed("embed")
def embed_shard(shard: ChunkedShard, job: Job) -> EmbeddedShard:
    """Complete the shard's new rows.

    A vector is named by its ``embed_key``. One that the shard's former rows have, or any other that the table
    holds, is carried over and never paid for again; each distinct text that is left is embedded once.
    """
    embedder = embedder_of(job)
    shard = with_failed(shard, job, embedder)
    vectors, missing = _known_vectors(shard, embedder.dimension, full=job.full)
    missing = missing[within_input(shard.chunks, embedder)[missing]]
    missing = fill_from_kept(shard.plan, shard.chunks["embed_key"], vectors, missing, job)
    keys = shard.chunks["embed_key"].to_pylist()
    made_here = recall_of(job).made_here(keys)
    repeated = sum(keys[place] in made_here for place in missing.tolist())
    missing = _recalled(vectors, missing, keys, job)
    distinct = {keys[place]: place for place in reversed(missing.tolist())}
    places = sorted(distinct.values())
    texts = shard.chunks["embed_text"].take(pa.array(places, pa.int64())).to_pylist()
    new_keys = [keys[place] for place in places]
    try:
        new = embed_distinct(embedder, texts)
    except StoppedError as error:
        keep_vectors(shard.plan, new_keys, error.vectors, job)
        if not isinstance(error.cause, BudgetReachedError):
            raise error.cause from error
        return _stopped(shard, embedder)
    recall_of(job).keep(new_keys, new)
    row_of = {key: row for row, key in enumerate(new_keys)}
    for place in missing.tolist():
        vectors[place] = new[row_of[keys[place]]]
    tokens = shard.chunks["embed_tokens"].take(pa.array(places, pa.int64()))
    chunks = _with_vectors(shard.chunks, vectors, embedder, job.embedder.also_store)
    for name, column in sparse_columns(shard, job).items():
        chunks = replace_column(chunks, name, column)
    documents, chunks, refused = without_refused(
        shard, chunks, embedder, missing, job.source[shard.plan.source]
    )
    return EmbeddedShard(
        plan=shard.plan,
        carried=shard.carried,
        documents=documents,
        chunks=chunks,
        embedded=len(places),
        repeated=repeated + len(missing) - len(places),
        embedded_tokens=pc.sum(tokens).as_py() or 0,
        touched=shard.touched,
        rejections=(*shard.rejections, *refused),
        work=shard.work,
        empty=_empty(embedder, texts, new),
        stopped=shard.stopped,
        notices=_notices(embedder),
    )


def _stopped(shard: ChunkedShard, embedder: Embedder) -> EmbeddedShard:
    """The shard without its rows: the run ends without it, and the next one goes on from what was kept."""
    return EmbeddedShard(
        plan=shard.plan,
        carried=shard.carried,
        documents=shard.documents.slice(0, 0),
        chunks=shard.chunks.slice(0, 0),
        embedded=0,
        embedded_tokens=0,
        stopped=True,
        notices=_notices(embedder),
    )


def _notices(embedder: Embedder) -> tuple[str, ...]:
    return tuple(embedder.notices()) if isinstance(embedder, GivesNotice) else ()


def _empty(embedder: Embedder, texts: Sequence[str], vectors: NDArray[np.float32]) -> int:
    """How many texts have no vector because the model gave none, and not because they were refused."""
    none = np.flatnonzero(np.isnan(vectors).all(axis=1)).tolist()
    if isinstance(embedder, RefusesTexts):
        refusals = (embedder.refusal(texts[place]) for place in none)
        return sum(refusal is None or refusal[0] == NOT_FINITE for refusal in refusals)
    return len(none)


def _recalled(
    vectors: NDArray[np.float32], missing: NDArray[np.int64], keys: Sequence[str], job: Job
) -> NDArray[np.int64]:
    """Fill in the vectors that the table has elsewhere; the places that are left."""
    found = recall_of(job).vectors(
        list({keys[place]: None for place in missing.tolist()}), vectors.shape[1]
    )
    if not found:
        return missing
    for place in missing.tolist():
        if keys[place] in found:
            vectors[place] = found[keys[place]]
    return np.array([place for place in missing.tolist() if keys[place] not in found], np.int64)


def _known_vectors(
    shard: ChunkedShard, dimension: int, *, full: bool
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The vectors that the carried rows have, and the places that still need one.

    A known text without a vector stays without: it was asked for once, under the same key.
    """
    keys = shard.chunks["embed_key"]
    vectors = np.full((len(keys), dimension), np.nan, dtype=np.float32)
    if full:
        return vectors, np.arange(len(keys))
    old = shard.carried.chunks
    found = pc.index_in(keys, value_set=old["embed_key"].combine_chunks())
    known = np.flatnonzero(found.is_valid().to_numpy())
    if len(known):
        rows = old["embedding"].take(found.filter(found.is_valid())).combine_chunks()
        filled = rows.is_valid().to_numpy(zero_copy_only=False)
        vectors[known[filled]] = rows.flatten().to_numpy().reshape(-1, dimension)
    return vectors, np.flatnonzero(found.is_null().to_numpy())


def _with_vectors(
    chunks: pa.Table, vectors: NDArray[np.float32], embedder: Embedder, forms: Sequence[Form]
) -> pa.Table:
    has_vector = np.asarray(np.isfinite(vectors).all(axis=1))
    dimension = pa.array(np.full(len(vectors), vectors.shape[1], dtype=np.int32), mask=~has_vector)
    columns = {
        "embedding": _lists("embedding", vectors[has_vector], has_vector),
        "embed_dim": dimension,
        "embed_model": pa.array([embedder.name if ok else None for ok in has_vector], pa.string()),
        "warnings": _warnings(chunks, has_vector, embedder),
    }
    if "int8" in forms:
        columns["embedding_int8"] = _lists("embedding_int8", as_int8(vectors[has_vector]), has_vector)
    if "bits" in forms:
        packed = iter(as_bits(vectors[has_vector]))
        bits = [next(packed).tobytes() if ok else None for ok in has_vector]
        columns["embedding_bits"] = pa.array(bits, pa.binary())
    for name, array in columns.items():
        chunks = replace_column(chunks, name, array)
    return chunks


def _lists(column: str, rows: NDArray[np.generic], has_row: NDArray[np.bool_]) -> pa.Array:
    """A list a row, null where there is none."""
    lengths = np.where(has_row, rows.shape[1], 0)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(
        pa.array(offsets), pa.array(rows.ravel()), type=CHUNKS.field(column).type, mask=pa.array(~has_row)
    )


def _warnings(
    chunks: pa.Table, has_vector: NDArray[np.bool_], embedder: Embedder
) -> pa.Array | pa.ChunkedArray:
    """The chunks' warnings, with what embedding adds to them."""
    policy = embedder.too_long if isinstance(embedder, TakesLongTexts) else None
    long = np.zeros(len(has_vector), dtype=np.bool_)
    if policy in MARKS and embedder.max_tokens is not None:
        long = np.asarray(chunks["embed_tokens"].to_numpy() > embedder.max_tokens) & has_vector
    if has_vector.all() and not long.any():
        return chunks["warnings"]
    marked = [
        [*before, *([] if ok else [NO_VECTOR]), *([MARKS[policy]] if over and policy else [])]
        for before, ok, over in zip(chunks["warnings"].to_pylist(), has_vector, long, strict=True)
    ]
    return pa.array(marked, CHUNKS.field("warnings").type)

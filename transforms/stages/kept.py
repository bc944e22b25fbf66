"""Vectors of a shard that was stopped half-way: kept beside the unfinished snapshot, found by the next run."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.embedders.settings import ServerSettings
from transforms.model.errors import NotFoundError
from transforms.storage.registry import open_store
from transforms.table.ipc import from_ipc, to_ipc
from transforms.table.layout import vectors_path
from transforms.table.schema import CHUNKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from transforms.model.shard import ShardPlan
    from transforms.stages.job import Job

_HASH_BYTES = 32
_COLUMNS = pa.schema([CHUNKS.field("embed_key"), CHUNKS.field("embedding")])


def keep_vectors(plan: ShardPlan, keys: Sequence[str], vectors: NDArray[np.float32], job: Job) -> None:
    """Keep the rows that are vectors, by their keys, with those kept before."""
    has_one = np.flatnonzero(np.isfinite(vectors).all(axis=1)).tolist()
    rows = [{"embed_key": keys[place], "embedding": vectors[place].tolist()} for place in has_one]
    before = _kept(plan, job)
    both = pa.concat_tables([before, pa.Table.from_pylist(rows, schema=_COLUMNS)])
    data = to_ipc(both)
    open_store(job.table).write(_path(plan, job), _hash(data) + data)


def fill_from_kept(
    plan: ShardPlan,
    keys: pa.ChunkedArray,
    vectors: NDArray[np.float32],
    missing: NDArray[np.int64],
    job: Job,
) -> NDArray[np.int64]:
    """Put kept vectors where they are missing; the places that still need one."""
    if not len(missing) or not isinstance(job.embedder, ServerSettings):
        return missing
    kept = _kept(plan, job)
    found = pc.index_in(keys.take(pa.array(missing)), value_set=kept["embed_key"].combine_chunks())
    there = found.is_valid().to_numpy()
    rows = kept["embedding"].take(found.drop_null()).combine_chunks()
    vectors[missing[there]] = rows.flatten().to_numpy().reshape(-1, vectors.shape[1])
    return np.asarray(missing[~there])


def _kept(plan: ShardPlan, job: Job) -> pa.Table:
    try:
        data = open_store(job.table).read(_path(plan, job))
    except NotFoundError:
        return _COLUMNS.empty_table()
    hashed, data = data[:_HASH_BYTES], data[_HASH_BYTES:]
    # Nothing else would tell a vector with a flipped bit from a good one; a damaged file is paid for again.
    return from_ipc([data], _COLUMNS) if hashed == _hash(data) else _COLUMNS.empty_table()


def _hash(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _path(plan: ShardPlan, job: Job) -> str:
    return vectors_path(job.snapshot, job.source[plan.source].slug, plan.shard)

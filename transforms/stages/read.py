"""Read a shard's objects at the versions that were listed."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

from transforms.model.errors import PreconditionError, StorageError, TooLargeError
from transforms.model.ids import sha256_hex
from transforms.stages.reject import rejection
from transforms.stages.work import Carried, Payload, ReadShard
from transforms.storage.registry import open_store
from transforms.table.layout import CHUNKS, DOCUMENTS
from transforms.table.reader import Snapshot
from transforms.table.schema import CHUNKS as CHUNK_COLUMNS
from transforms.table.schema import DOCUMENTS as DOCUMENT_COLUMNS

if TYPE_CHECKING:
    from transforms.model.objects import ObjectInfo
    from transforms.model.shard import Rejection, ShardPlan
    from transforms.stages.job import Job, SourceSpec
    from transforms.storage.protocol import Store


def read_shard(plan: ShardPlan, job: Job) -> ReadShard:
    """The bytes of every object to read, and the rows that the shard had before.

    An object that cannot be read is a rejection. One that was replaced since it was listed is left to
    the next run, so that no row mixes two versions.
    """
    source = job.source[plan.source]
    store = open_store(source.root)
    carried = _carried(plan, job, source)
    settled = _settled(carried, source, _refused(plan, job))
    payloads: list[Payload] = []
    touched: list[ObjectInfo] = []
    rejections: list[Rejection] = []
    for info in plan.reads:
        outcome = _read(store, info, source, job.max_object_bytes)
        if not isinstance(outcome, Payload):
            rejections.append(outcome)
        elif settled.get(info.name) == outcome.sha256:
            touched.append(info)
        else:
            payloads.append(outcome)
    return ReadShard(plan, carried, tuple(payloads), tuple(touched), tuple(rejections))


def _carried(plan: ShardPlan, job: Job, source: SourceSpec) -> Carried:
    if not plan.previous or job.parent is None:
        return Carried(CHUNK_COLUMNS.empty_table(), DOCUMENT_COLUMNS.empty_table())
    snapshot = _parent(job.table, job.parent, job.run_id)
    return Carried(
        snapshot.shard_table(CHUNKS, source.slug, plan.shard),
        snapshot.shard_table(DOCUMENTS, source.slug, plan.shard),
    )


@lru_cache(maxsize=1)
def _parent(table: str, number: int, run_id: str) -> Snapshot:  # noqa: ARG001 - see below
    """The snapshot that the run continues, its manifest read once a process and not once a shard.

    The run is part of the key: another run may find another table at the same place.
    """
    return Snapshot.open(open_store(table), number)


def _refused(plan: ShardPlan, job: Job) -> frozenset[str]:
    """The objects of the source that the parent has rejections of, whole or in part."""
    if not plan.previous or job.parent is None:
        return frozenset()
    return _parent_refused(job.table, job.parent, job.run_id).get(plan.source, frozenset())


@lru_cache(maxsize=1)
def _parent_refused(table: str, number: int, run_id: str) -> dict[str, frozenset[str]]:
    rejected = _parent(table, number, run_id).rejected().select(["source_name", "object_name"])
    names: defaultdict[str, set[str]] = defaultdict(set)
    for row in rejected.to_pylist():
        names[row["source_name"]].add(row["object_name"])
    return {source: frozenset(found) for source, found in names.items()}


def _settled(carried: Carried, source: SourceSpec, refused: frozenset[str]) -> dict[str, str]:
    """The content hash of each object whose rows are complete and of today's recipe.

    One with a part in the rejected table is read again, so that the row there is of today's version.
    """
    columns = [
        "object_name",
        "object_sha256",
        "status",
        "extract_recipe",
        "chunk_recipe",
        "embed_recipe",
    ]
    today = (source.recipe.extract, source.recipe.chunk, source.recipe.embed)
    hashes: dict[str, str] = {}
    outdated = set(refused)
    for row in carried.documents.select(columns).to_pylist():
        recipe = (row["extract_recipe"], row["chunk_recipe"], row["embed_recipe"])
        if recipe == today and row["status"] != "stale":
            hashes[row["object_name"]] = row["object_sha256"]
        else:
            outdated.add(row["object_name"])
    return {name: sha for name, sha in hashes.items() if name not in outdated}


def _read(store: Store, info: ObjectInfo, source: SourceSpec, limit: int) -> Payload | Rejection:
    if info.size > limit:
        detail = f"{info.size:,} bytes are over limits.max_object_bytes = {limit:,}."
        return rejection(source, info, "read", "too_large", detail)
    try:
        data = store.read(info.name, token=info.token, limit=limit)
    except PreconditionError:
        detail = "The object was replaced or deleted after it was listed; the next run reads it."
        return rejection(source, info, "read", "changed_while_reading", detail)
    except TooLargeError as error:
        return rejection(source, info, "read", "too_large", str(error))
    except StorageError as error:
        return rejection(source, info, "read", "unreadable", str(error))
    return Payload(info, data, sha256_hex(data))

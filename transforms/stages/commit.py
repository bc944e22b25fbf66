"""Decide what a finished run publishes: a snapshot, or nothing.

Nothing, if no row of any table would differ; nothing, if too many documents were rejected.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from transforms.model.ids import slug
from transforms.stages.outcome import Outcome, keep_outcome
from transforms.storage.registry import open_store
from transforms.table.layout import CHUNKS, kind_of, shard_of
from transforms.table.publish import Draft, publish
from transforms.table.reader import Snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transforms.model.shard import FileInfo, Rejection, ShardReceipt
    from transforms.planning.plan import SourcePlan
    from transforms.stages.job import Job


@dataclass(slots=True)
class _Counts:
    documents: int = 0
    chunks: int = 0
    embedded: int = 0
    reused: int = 0
    rejected: int = 0
    deleted: int = 0


@dataclass(frozen=True, slots=True)
class _Result:
    """All that plans and receipts say together."""

    kept: tuple[FileInfo, ...]
    new: tuple[FileInfo, ...]
    rejected: tuple[Rejection, ...]
    deleted: dict[str, tuple[str, ...]]
    counts: dict[str, _Counts] = field(default_factory=dict)


def commit_snapshot(job: Job, plans: Sequence[SourcePlan], receipts: Sequence[ShardReceipt]) -> Outcome:
    """Publish the snapshot that the receipts make together with the kept shards, if there is cause to.

    Raises:
        TableError, StorageError: the snapshot could not be published; the last one is as it was.
    """
    parent = None if job.parent is None else Snapshot.open(open_store(job.table), job.parent)
    result = _gather(job, plans, receipts, parent)
    if _too_many_rejected(job, result):
        outcome = _outcome(job, "too_many_rejected", job.parent, result, receipts)
    elif parent is not None and _nothing_new(receipts, result, parent):
        outcome = _outcome(job, "unchanged", job.parent, result, receipts)
    else:
        publish(open_store(job.table), _draft(job, result))
        outcome = _outcome(job, "published", job.snapshot, result, receipts)
    keep_outcome(outcome, job)
    return outcome


def _gather(
    job: Job, plans: Sequence[SourcePlan], receipts: Sequence[ShardReceipt], parent: Snapshot | None
) -> _Result:
    kept_shards = {(job.source[p.source].slug, shard) for p in plans for shard in p.kept_shards}
    old_files = () if parent is None else parent.manifest.files
    kept = tuple(file for file in old_files if (slug(file.source), shard_of(file.path)) in kept_shards)
    new = tuple(file for receipt in receipts for file in receipt.files)
    rejected = [r for plan in plans for r in plan.kept_rejections]
    rejected += [r for receipt in receipts for r in receipt.rejected]
    deleted = _deleted(job, receipts, parent)
    result = _Result(
        kept=kept,
        new=tuple(sorted(new, key=lambda file: file.path)),
        rejected=tuple(sorted(rejected, key=lambda r: (r.source, r.doc_id))),
        deleted=deleted,
        counts={source.name: _Counts() for source in job.sources},
    )
    _count(result, receipts)
    return result


def _deleted(
    job: Job, receipts: Sequence[ShardReceipt], parent: Snapshot | None
) -> dict[str, tuple[str, ...]]:
    """Chunk ids that are gone, by source; a source that left the configuration loses all of its own."""
    deleted: defaultdict[str, list[str]] = defaultdict(list)
    for receipt in receipts:
        deleted[receipt.source] += receipt.deleted
    for name in () if parent is None else parent.manifest.sources:
        if name not in job.source and parent is not None:
            ids = (batch["chunk_id"].to_pylist() for batch in parent.chunks(["chunk_id"], source=name))
            deleted[name] = [chunk_id for batch in ids for chunk_id in batch]
    return {source: tuple(sorted(ids)) for source, ids in deleted.items() if ids}


def _count(result: _Result, receipts: Sequence[ShardReceipt]) -> None:
    counts = result.counts
    for file in (*result.kept, *result.new):
        if shard_of(file.path) and file.source in counts:
            one = counts[file.source]
            if kind_of(file.path) == CHUNKS:
                one.chunks += file.rows
            else:
                one.documents += file.rows
    for receipt in receipts:
        counts[receipt.source].embedded += receipt.embedded
    for one in counts.values():
        one.reused = max(0, one.chunks - one.embedded)
    for rejection in result.rejected:
        counts[rejection.source].rejected += 1
    for source, ids in result.deleted.items():
        counts.setdefault(source, _Counts()).deleted = len(ids)


def _too_many_rejected(job: Job, result: _Result) -> bool:
    rejected = len(result.rejected)
    documents = sum(one.documents for one in result.counts.values())
    return rejected > job.max_rejected_share * (rejected + documents)


def _nothing_new(receipts: Sequence[ShardReceipt], result: _Result, parent: Snapshot) -> bool:
    """Whether a reader, or the next run, could not tell the new snapshot from the last one."""
    if any(receipt.differs for receipt in receipts) or result.deleted:
        return False
    columns = ("source_name", "doc_id", "stage", "reason", "object_token")
    before = {tuple(row[name] for name in columns) for row in parent.rejected().to_pylist()}
    now = {(r.source, r.doc_id, r.stage, r.reason, r.object_token) for r in result.rejected}
    return before == now


def _draft(job: Job, result: _Result) -> Draft:
    return Draft(
        number=job.snapshot,
        parent=job.parent,
        run_id=job.run_id,
        recipe=job.recipe,
        new_files=result.new,
        kept_files=result.kept,
        rejected=result.rejected,
        deleted=result.deleted,
        counts={name: asdict(one) for name, one in result.counts.items()},
    )


def _outcome(
    job: Job, status: str, snapshot: int | None, result: _Result, receipts: Sequence[ShardReceipt]
) -> Outcome:
    sources = {name: asdict(one) for name, one in result.counts.items()}
    totals: Counter[str] = Counter()
    for one in sources.values():
        totals.update(one)
    examples: dict[str, str] = {}
    for r in result.rejected:
        examples.setdefault(r.reason, f"{r.source}/{r.doc_id}: {r.detail}")
    return Outcome(
        run_id=job.run_id,
        status=status,  # type: ignore[arg-type]
        table=job.table,
        snapshot=snapshot,
        counts=dict(totals),
        sources=sources,
        reasons=dict(Counter(r.reason for r in result.rejected).most_common()),
        examples=examples,
        embedded_tokens=sum(receipt.embedded_tokens for receipt in receipts),
    )

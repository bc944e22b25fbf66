"""Decide what a finished run publishes: a snapshot, or nothing.

Nothing, if no row of any table would differ; nothing, if too many documents were rejected, too many texts
got no vector, or the budget for embedding is used up.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from transforms.model.errors import GuardError
from transforms.model.ids import slug
from transforms.sparse.registry import sparse_name
from transforms.stages.beside_rows import beside_rows
from transforms.stages.guards import check_gone
from transforms.stages.inspect import Run, inspect_snapshot
from transforms.stages.noted import noted
from transforms.stages.outcome import Outcome, keep_outcome, refused
from transforms.stages.share import too_many_rejected
from transforms.storage.registry import open_store
from transforms.table.layout import CHUNKS, kind_of, rejected_of_run_path, rejected_path, shard_of
from transforms.table.manifest import summed
from transforms.table.publish import Draft, publish
from transforms.table.reader import Snapshot
from transforms.table.rejected import rejected_table
from transforms.table.writer import to_parquet

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from transforms.model.shard import FileInfo, Rejection, ShardReceipt
    from transforms.planning.plan import SourcePlan
    from transforms.stages.job import Job


_ALWAYS_ALLOWED_EMPTY = 10
"""Texts without a vector that are never refused: single words of another language, rows of signs."""


@dataclass(slots=True)
class _Counts:
    documents: int = 0
    chunks: int = 0
    embedded: int = 0
    """Texts that were embedded in this run."""
    repeated: int = 0
    """Chunks that share the vector of an equal one of those."""
    reused: int = 0
    """Chunks whose vectors the table had before."""
    rejected: int = 0
    deleted: int = 0
    """Chunks that are gone."""


@dataclass(frozen=True, slots=True)
class _Result:
    """All that plans and receipts say together."""

    kept: tuple[FileInfo, ...]
    new: tuple[FileInfo, ...]
    rejected: tuple[Rejection, ...]
    deleted: dict[str, tuple[str, ...]]
    counts: dict[str, dict[str, int]]
    """By source."""
    totals: dict[str, int]
    incomplete: dict[str, str]
    notices: tuple[str, ...]
    beside: tuple[str, ...]
    """What is to be made anew beside rows."""


def commit_snapshot(job: Job, plans: Sequence[SourcePlan], receipts: Sequence[ShardReceipt]) -> Outcome:
    """Publish the snapshot that the receipts make together with the kept shards, if there is cause to.

    A guard that refuses is an outcome too.

    Raises:
        TableError, StorageError: the snapshot could not be published; the last one is as it was.
    """
    parent = None if job.parent is None else Snapshot.open(open_store(job.table), job.parent)
    result = _gather(job, plans, receipts, parent)
    try:
        _check_budget(job, plans, receipts)
        outcome = _decide(job, receipts, result, parent)
    except GuardError as error:
        outcome = refused(job, str(error))
    keep_outcome(outcome, job)
    return outcome


def _decide(
    job: Job, receipts: Sequence[ShardReceipt], result: _Result, parent: Snapshot | None
) -> Outcome:
    if parent is not None:
        check_gone(parent, _gone(receipts), result.counts, job)
    refusal = too_many_rejected(result.rejected, result.totals["documents"], job.max_rejected_share, parent)
    if refusal:
        _keep_rejected(job, result)
        outcome = _outcome(job, "too_many_rejected", job.parent, result, receipts)
        return replace(outcome, refusal=refusal)
    if parent is not None and _nothing_new(receipts, result, parent):
        return _outcome(job, "unchanged", job.parent, result, receipts)
    _check_vectors(job, receipts)
    run = Run(result.rejected, result.incomplete, receipts, result.notices)
    publish(
        open_store(job.table),
        _draft(job, result),
        lambda manifest: inspect_snapshot(job, manifest, parent, run),
    )
    return _outcome(job, "published", job.snapshot, result, receipts)


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
    counts = _count(job, receipts, kept, rejected, deleted)
    beside = tuple(beside_rows(job, parent))
    return _Result(
        kept=kept,
        new=tuple(sorted(new, key=lambda file: file.path)),
        rejected=tuple(sorted(rejected, key=lambda r: (r.source, r.doc_id))),
        deleted=deleted,
        counts=counts,
        totals=summed(counts.values()),
        incomplete={plan.source: plan.problem for plan in plans if plan.problem},
        notices=tuple(dict.fromkeys((*_notices(job, plans, receipts), *beside))),
        beside=beside,
    )


def _notices(job: Job, plans: Sequence[SourcePlan], receipts: Sequence[ShardReceipt]) -> Iterator[str]:
    """What a person should know: what embedders noticed, and where nothing was found, as for a slip in a pattern."""
    yield from noted(job)
    for receipt in receipts:
        yield from receipt.notices
    for plan in plans:
        yield from plan.notices()
        if job.selection.is_everything and not plan.listed and not plan.problem:
            yield (
                f"Source `{plan.source}` is empty: below {job.source[plan.source].root} there is nothing that its "
                "`include` and `exclude` let pass."
            )


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


def _count(
    job: Job,
    receipts: Sequence[ShardReceipt],
    kept: Sequence[FileInfo],
    rejected: Sequence[Rejection],
    deleted: Mapping[str, Sequence[str]],
) -> dict[str, dict[str, int]]:
    """By source, from what the shards report and the kept files hold; publishing holds it against all files."""
    counts = {source.name: _Counts() for source in job.sources}
    for file in kept:
        if kind_of(file.path) == CHUNKS:
            counts[file.source].chunks += file.rows
        else:
            counts[file.source].documents += file.rows
    for receipt in receipts:
        one = counts[receipt.source]
        one.documents += receipt.documents
        one.chunks += receipt.chunks
        one.embedded += receipt.embedded
        one.repeated += receipt.repeated
    for one in counts.values():
        one.reused = max(0, one.chunks - one.embedded - one.repeated)
    for rejection in rejected:
        counts[rejection.source].rejected += 1
    for source, ids in deleted.items():
        counts.setdefault(source, _Counts()).deleted = len(ids)
    return {name: asdict(one) for name, one in counts.items()}


def _gone(receipts: Sequence[ShardReceipt]) -> Counter[str]:
    """Documents that are gone, by source."""
    gone: Counter[str] = Counter()
    for receipt in receipts:
        gone[receipt.source] += receipt.gone
    return gone


def _keep_rejected(job: Job, result: _Result) -> None:
    """Nobody can mend what is not named, and there will be no snapshot that names it."""
    table = to_parquet(rejected_table(result.rejected), job.recipe)
    open_store(job.table).write(rejected_of_run_path(job.run_id), table)


def _rejected_list(job: Job, status: str, result: _Result) -> str:
    """The file that lists the rejected documents, if there are any."""
    if not result.rejected:
        return ""
    if status == "too_many_rejected":
        path = rejected_of_run_path(job.run_id)
    else:
        path = rejected_path(job.snapshot if status == "published" else job.parent or 0)
    return open_store(job.table).uri(path)


def _check_vectors(job: Job, receipts: Sequence[ShardReceipt]) -> None:
    """A model that gives zeros, or numbers that are none, is broken or knows nothing of these texts."""
    embedded = sum(receipt.embedded for receipt in receipts)
    empty = sum(receipt.empty for receipt in receipts)
    if empty > max(_ALWAYS_ALLOWED_EMPTY, job.max_empty_share * embedded):
        raise GuardError(
            f"Nothing was published: of {embedded:,} texts that were embedded {empty:,} came without a vector "
            f"(zeros, or numbers that are not finite), more than limits.max_empty_share = {job.max_empty_share} "
            "allows. The model is broken, or knows nothing of this language; choose another in `embedder`."
        )


def _check_budget(job: Job, plans: Sequence[SourcePlan], receipts: Sequence[ShardReceipt]) -> None:
    stopped = {(receipt.source, receipt.shard) for receipt in receipts if receipt.stopped}
    if stopped:
        names = sorted(_names_of(plans, stopped))
        raise GuardError(
            f"Nothing was published: the budget of {job.budget_tokens or 0:,} tokens is used up "
            f"(limits.max_tokens, limits.max_cost). {len(receipts) - len(stopped):,} of {len(receipts):,} shards are "
            f"done; {len(names):,} objects are left, {names[0]} the first of them, and the next text of theirs needs "
            "more than is left of the budget. Every vector that was paid for is kept; the same command goes on from "
            "there, with a budget of its own."
        )


def _names_of(plans: Sequence[SourcePlan], shards: Collection[tuple[str, str]]) -> Iterator[str]:
    """Source and name of each object that some shards work on."""
    for plan in plans:
        for shard in plan.shards:
            if (plan.source, shard.shard) in shards:
                names = {*(info.name for info in (*shard.reads, *shard.touched)), *shard.redo}
                yield from (f"{plan.source}/{name}" for name in names)


def _nothing_new(receipts: Sequence[ShardReceipt], result: _Result, parent: Snapshot) -> bool:
    """Whether a reader, or the next run, could not tell the new snapshot from the last one."""
    if any(receipt.differs for receipt in receipts) or result.deleted or result.beside:
        return False
    columns = ("source_name", "doc_id", "doc_uri", "stage", "reason", "object_token")
    before = {tuple(row[name] for name in columns) for row in parent.rejected().to_pylist()}
    now = {(r.source, r.doc_id, r.doc_uri, r.stage, r.reason, r.object_token) for r in result.rejected}
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
        counts=result.counts,
        totals=result.totals,
        sparse=sparse_name(job.sparse),
        search=job.search,
    )


def _outcome(
    job: Job, status: str, snapshot: int | None, result: _Result, receipts: Sequence[ShardReceipt]
) -> Outcome:
    examples: dict[str, str] = {}
    for r in result.rejected:
        examples.setdefault(r.reason, f"{r.source}/{r.doc_id}: {r.detail}")
    return Outcome(
        run_id=job.run_id,
        status=status,  # type: ignore[arg-type]
        table=job.table,
        snapshot=snapshot,
        counts=result.totals,
        sources=result.counts,
        reasons=dict(Counter(r.reason for r in result.rejected).most_common()),
        examples=examples,
        rejected_list=_rejected_list(job, status, result),
        embedded_tokens=sum(receipt.embedded_tokens for receipt in receipts),
        work={
            name: sum(getattr(receipt.work, name) for receipt in receipts)
            for name in ("opened", "extracted", "chunked")
        },
        incomplete=result.incomplete,
        notices=result.notices,
    )

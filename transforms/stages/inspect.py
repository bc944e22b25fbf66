"""Look at a snapshot that is complete and not yet published: write its report, and refuse it if it is bad."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from transforms.model.errors import GuardError, StorageError
from transforms.report import gate, quality
from transforms.report.figures import Allowed, Figures, figures_of
from transforms.report.made import model_of
from transforms.report.page import report_page
from transforms.report.report import make_report, to_json
from transforms.stages.embedder import embedder_of
from transforms.stages.sparse import sparse_of
from transforms.storage.registry import open_store
from transforms.table.layout import report_page_path, report_path
from transforms.table.reader import Snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from transforms.model.shard import Rejection, ShardReceipt
    from transforms.stages.job import Job, SourceSpec
    from transforms.table.manifest import Manifest


@dataclass(frozen=True, slots=True)
class Run:
    """What only the run knows of a snapshot that it made."""

    rejected: Sequence[Rejection]
    incomplete: Mapping[str, str]
    receipts: Sequence[ShardReceipt]
    notices: Sequence[str]


def inspect_snapshot(job: Job, manifest: Manifest, parent: Snapshot | None, run: Run) -> None:
    """Write ``report.json`` and ``report.html`` beside the files.

    Raises:
        GuardError: a threshold of ``quality`` or ``gate`` is passed; the report of this snapshot says more.
    """
    store = open_store(job.table)
    snapshot = Snapshot(store, manifest)
    figures = figures_of(snapshot, {source.name: _allowed(source) for source in job.sources})
    retrieval = _retrieval(job, snapshot)
    report = make_report(
        manifest,
        None if parent is None else parent.manifest,
        run.rejected,
        run.incomplete,
        model=model_of(snapshot),
        seconds=_seconds(run.receipts),
        embedded_tokens=sum(receipt.embedded_tokens for receipt in run.receipts),
        notices=list(run.notices),
        retrieval=retrieval,
        figures=figures,
    )
    store.write(report_path(manifest.snapshot), to_json(report))
    page = report_page_path(manifest.snapshot)
    store.write(page, report_page(report).encode())
    faults = _faults(job, snapshot, figures, parent, retrieval)
    if faults:
        raise GuardError(
            f"Nothing was published: {'; '.join(faults)}. {store.uri(page)} shows more, until the next run."
        )


def _allowed(source: SourceSpec) -> Allowed:
    chunk = source.chunk
    return Allowed(chunk.label, chunk.size.unit, chunk.size.target, chunk.size.max)


def _seconds(receipts: Sequence[ShardReceipt]) -> dict[str, float]:
    """By stage, of all shards together, in the order of the stages."""
    seconds: Counter[str] = Counter()
    for receipt in receipts:
        seconds.update(dict(receipt.work.seconds))
    return {stage: round(spent, 3) for stage, spent in seconds.items()}


def _retrieval(job: Job, snapshot: Snapshot) -> dict[str, float]:
    if job.gate is None:
        return {}
    names = [name for name, _ in job.gate.least]
    return gate.measured(
        snapshot, embedder_of(job), sparse_of(job), job.gate.questions, names, fusion=job.search
    )


def _faults(
    job: Job,
    snapshot: Snapshot,
    figures: Figures,
    parent: Snapshot | None,
    retrieval: Mapping[str, float],
) -> list[str]:
    found = list(quality.faults_of(job.quality, figures, _languages(parent)))
    missed = [] if job.gate is None else list(gate.faults_of(job.gate.least, retrieval))
    if job.gate is not None and missed:
        lost = gate.without_documents(snapshot, job.gate.questions)
        if lost:
            missed.append(
                f"{len(lost)} of {len(job.gate.questions)} questions name no document of this snapshot, as {lost[0]}"
            )
    return found + missed


def _languages(parent: Snapshot | None) -> dict[str, int]:
    """Documents by language in the parent's report; one of an older program does not say."""
    if parent is None:
        return {}
    try:
        report = json.loads(parent.store.read(report_path(parent.manifest.snapshot)))
        return dict(report.get("figures", {}).get("languages", {}))
    except (StorageError, ValueError):
        # A report is for people: a table without one is whole.
        return {}

"""CommitSnapshot: all plans and receipts to one published snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apache_beam as beam

from transforms.metrics import StageMetrics
from transforms.stages.commit import commit_snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from transforms.model.shard import ShardReceipt
    from transforms.planning.plan import SourcePlan
    from transforms.stages.job import Job
    from transforms.stages.outcome import Outcome


class CommitSnapshot(beam.PTransform):
    """``plans`` and ``receipts`` to the one :class:`Outcome` of the run."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job

    def expand(self, inputs: Mapping[str, beam.PCollection]) -> beam.PCollection[Outcome]:
        together = {
            name: items | f"Key_{name}" >> beam.WithKeys("snapshot") for name, items in inputs.items()
        }
        return together | "Together" >> beam.CoGroupByKey() | "Commit" >> beam.ParDo(_Commit(self._job))


class _Commit(beam.DoFn):
    def __init__(self, job: Job) -> None:
        self._job = job
        self._metrics = StageMetrics("CommitSnapshot")

    def process(
        self, element: tuple[str, Mapping[str, Iterable[SourcePlan | ShardReceipt]]]
    ) -> Iterator[Outcome]:
        _, records = element
        plans, receipts = list(records["plans"]), list(records["receipts"])
        with self._metrics.timed():
            outcome = commit_snapshot(self._job, plans, receipts)  # type: ignore[arg-type]
        self._metrics.count(inputs=len(receipts), outputs=1)
        yield outcome

"""ReadSnapshot and PlanShards: what the last snapshot knows, and what this run does about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apache_beam as beam

from transforms.metrics import StageMetrics
from transforms.planning.known import known_batches, rejected_table
from transforms.planning.source import keep_source, make_plan
from transforms.stages.plans import keep_plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from transforms.planning.plan import SourcePlan
    from transforms.stages.job import Job


class ReadSnapshot(beam.PTransform):
    """Source names to ``(source, documents)``: Arrow IPC bytes of schema ``planning.diff.KNOWN``."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job

    def expand(self, sources: beam.PCollection[str]) -> beam.PCollection[tuple[str, bytes]]:
        job = self._job
        return sources | "Read" >> beam.FlatMap(
            lambda source: ((source, batch) for batch in known_batches(job, source))
        )


class PlanShards(beam.PTransform):
    """``listing``, ``documents`` and ``problems`` by source to one :class:`SourcePlan` a source."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job

    def expand(
        self, inputs: Mapping[str, beam.PCollection[tuple[str, bytes | str]]]
    ) -> beam.PCollection[SourcePlan]:
        return inputs | "BySource" >> beam.CoGroupByKey() | "Plan" >> beam.ParDo(_Plan(self._job))


class _Plan(beam.DoFn):
    def __init__(self, job: Job) -> None:
        self._job = job
        self._metrics = StageMetrics("PlanShards")

    def process(self, element: tuple[str, Mapping[str, Iterable[Any]]]) -> Iterator[SourcePlan]:
        source, columns = element
        with self._metrics.timed():
            rejected = rejected_table(self._job, source)
            problem = next(iter(columns["problems"]), None)
            if problem is None:
                plan = make_plan(self._job, source, columns["listing"], columns["documents"], rejected)
            else:
                plan = keep_source(source, columns["documents"], rejected, problem)
            keep_plan(plan, self._job)
        self._metrics.count(inputs=plan.listed, outputs=len(plan.shards), reused=plan.unchanged)
        yield plan

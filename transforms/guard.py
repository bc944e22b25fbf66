"""CheckPlans: the guards, on whatever runner, before anything is read or embedded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apache_beam as beam

from transforms.metrics import StageMetrics
from transforms.model.errors import GuardError
from transforms.stages.guards import check_plans
from transforms.stages.outcome import keep_outcome, refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from transforms.planning.plan import SourcePlan
    from transforms.stages.job import Job


class CheckPlans(beam.PTransform):
    """The plans of all sources to the same plans; to none, with a word in the outcome, if a guard refuses."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job

    def expand(self, plans: beam.PCollection[SourcePlan]) -> beam.PCollection[SourcePlan]:
        together = plans | "Key" >> beam.WithKeys("run") | "Together" >> beam.GroupByKey()
        return together | "Check" >> beam.ParDo(_Check(self._job))


class _Check(beam.DoFn):
    def __init__(self, job: Job) -> None:
        self._job = job
        self._metrics = StageMetrics("CheckPlans")

    def process(self, element: tuple[str, Iterable[SourcePlan]]) -> Iterator[SourcePlan]:
        plans = list(element[1])
        with self._metrics.timed():
            try:
                check_plans(plans, self._job)
            except GuardError as error:
                # Raised, it would be tried again by the runner, and its words lost in a trace.
                keep_outcome(refused(self._job, str(error)), self._job)
                self._metrics.count(inputs=len(plans), rejected=len(plans))
                return
        self._metrics.count(inputs=len(plans), outputs=len(plans))
        yield from plans

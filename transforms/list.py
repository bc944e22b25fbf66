"""ListObjects: each source's objects, metadata only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apache_beam as beam

from transforms.metrics import StageMetrics
from transforms.planning.listing import listing_batches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transforms.stages.job import Job


class ListObjects(beam.PTransform):
    """Source names to ``(source, listing)``: Arrow IPC bytes of schema ``planning.diff.LISTING``."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job

    def expand(self, sources: beam.PCollection[str]) -> beam.PCollection[tuple[str, bytes]]:
        return sources | "List" >> beam.ParDo(_List(self._job))


class _List(beam.DoFn):
    def __init__(self, job: Job) -> None:
        self._job = job
        self._metrics = StageMetrics("ListObjects")

    def process(self, source: str) -> Iterator[tuple[str, bytes]]:
        with self._metrics.timed():
            for batch, count in listing_batches(self._job.source[source]):
                self._metrics.count(outputs=count)
                yield source, batch

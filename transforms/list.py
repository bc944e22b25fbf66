"""ListObjects: each source's objects, metadata only; a source that cannot be listed whole is told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput

from transforms.metrics import StageMetrics
from transforms.model.errors import StorageError
from transforms.planning.listing import listing_batches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transforms.stages.job import Job


LISTING = "listing"
PROBLEMS = "problems"
"""Tag of ``(source, sentence)`` for each source whose listing broke off."""


class ListObjects(beam.PTransform):
    """Source names to ``(source, listing)``: Arrow IPC bytes of schema ``planning.diff.LISTING``.

    A source may have part of a listing and a problem: then nothing may be concluded from the part.
    """

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job

    def expand(self, sources: beam.PCollection[str]) -> beam.DoOutputsTuple:
        return sources | "List" >> beam.ParDo(_List(self._job)).with_outputs(PROBLEMS, main=LISTING)


class _List(beam.DoFn):
    def __init__(self, job: Job) -> None:
        self._job = job
        self._metrics = StageMetrics("ListObjects")

    def process(self, source: str) -> Iterator[tuple[str, bytes] | TaggedOutput]:
        with self._metrics.timed():
            try:
                for batch, count in listing_batches(self._job, source):
                    self._metrics.count(outputs=count)
                    yield source, batch
            except StorageError as error:
                yield TaggedOutput(PROBLEMS, (source, str(error)))

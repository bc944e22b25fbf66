"""ListObjects: each source's objects, metadata only; a source that cannot be listed whole is told apart."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput

from transforms.metrics import StageMetrics
from transforms.model.errors import StorageError
from transforms.planning.listing import listing_tables
from transforms.planning.partition import divided
from transforms.planning.source import parts_of
from transforms.table.ipc import to_ipc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transforms.stages.job import Job


LISTING = "listing"
PROBLEMS = "problems"
"""Tag of ``(source, sentence)`` for each source whose listing broke off."""


TABLES = "tables"
"""Tag of ``(source, (folder, objects))`` for each table that lies in a source: its files are left out."""


class ListObjects(beam.PTransform):
    """Source names to ``((source, part), listing)``: Arrow IPC bytes of schema ``planning.diff.LISTING``.

    A source may have some of a listing and a problem: then nothing may be concluded from the part.
    """

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job

    def expand(self, sources: beam.PCollection[str]) -> beam.DoOutputsTuple:
        return sources | "List" >> beam.ParDo(_List(self._job)).with_outputs(PROBLEMS, TABLES, main=LISTING)


class _List(beam.DoFn):
    def __init__(self, job: Job) -> None:
        self._job = job
        self._metrics = StageMetrics("ListObjects")

    def process(self, source: str) -> Iterator[tuple[tuple[str, int], bytes] | TaggedOutput]:
        if not self._job.selection.has(source):
            return
        count = parts_of(self._job, source)
        left_out: Counter[str] = Counter()
        with self._metrics.timed():
            try:
                for table in listing_tables(self._job, source, left_out):
                    self._metrics.count(outputs=table.num_rows)
                    for part, rows in divided(table, count):
                        yield (source, part), to_ipc(rows)
            except StorageError as error:
                yield TaggedOutput(PROBLEMS, (source, str(error)))
            yield from (TaggedOutput(TABLES, (source, one)) for one in left_out.items())

"""ReadSnapshot and PlanShards: what the last snapshot knows, and what this run does about it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import apache_beam as beam

from transforms.metrics import StageMetrics
from transforms.planning.diff import KNOWN, LISTING, Diff
from transforms.planning.known import known_tables, rejected_table
from transforms.planning.partition import divided
from transforms.planning.source import compare_part, keep_source, parts_of, plan_parts
from transforms.stages.plans import keep_plan
from transforms.table.ipc import from_ipc, to_ipc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from transforms.planning.plan import SourcePlan
    from transforms.stages.job import Job

Part: TypeAlias = tuple[str, int]
"""A source and the number of a part of it: what is compared at once."""


class ReadSnapshot(beam.PTransform):
    """Source names to ``(part, documents)``: Arrow IPC bytes of schema ``planning.diff.KNOWN``."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job

    def expand(self, sources: beam.PCollection[str]) -> beam.PCollection[tuple[Part, bytes]]:
        return sources | "Read" >> beam.FlatMap(self._documents)

    def _documents(self, source: str) -> Iterator[tuple[Part, bytes]]:
        if self._job.selection.has(source):
            count = parts_of(self._job, source)
            for table in known_tables(self._job, source):
                for part, rows in divided(table, count):
                    yield (source, part), to_ipc(rows)


class PlanShards(beam.PTransform):
    """``listing`` and ``documents`` by part, with ``sources``, ``problems`` and ``tables``, to a plan a source."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job

    def expand(self, inputs: Mapping[str, beam.PCollection[Any]]) -> beam.PCollection[SourcePlan]:
        columns = {name: inputs[name] for name in ("listing", "documents")}
        parts = columns | "ByPart" >> beam.CoGroupByKey() | "Compare" >> beam.Map(self._compare)
        named = inputs["sources"] | "Name" >> beam.Map(_named)
        together = {
            "parts": parts,
            "problems": inputs["problems"],
            "tables": inputs["tables"],
            "sources": named,
        }
        return together | "BySource" >> beam.CoGroupByKey() | "Plan" >> beam.ParDo(_Plan(self._job))

    def _compare(self, element: tuple[Part, Mapping[str, Iterable[bytes]]]) -> tuple[str, Diff]:
        (source, part), columns = element
        listing = [from_ipc(columns["listing"], LISTING)]
        documents = [from_ipc(columns["documents"], KNOWN)]
        rejected = rejected_table(self._job, source)
        parts = (part, parts_of(self._job, source))
        return source, compare_part(self._job, source, parts, listing, documents, rejected)


def _named(source: str) -> tuple[str, str]:
    return source, source


class _Plan(beam.DoFn):
    def __init__(self, job: Job) -> None:
        self._job = job
        self._metrics = StageMetrics("PlanShards")

    def process(self, element: tuple[str, Mapping[str, Iterable[Any]]]) -> Iterator[SourcePlan]:
        source, found = element
        with self._metrics.timed():
            problem = next(iter(found["problems"]), "")
            if problem or not self._job.selection.has(source):
                plan = keep_source(self._job, source, rejected_table(self._job, source), problem)
            else:
                plan = plan_parts(self._job, source, [*found["parts"]])
                plan = replace(plan, tables=dict(found["tables"]))
            keep_plan(plan, self._job)
        self._metrics.count(inputs=plan.listed, outputs=len(plan.shards), reused=plan.unchanged)
        yield plan

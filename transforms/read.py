"""ReadObjects: plans to bytes and former rows; shards that are done already pass by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput

from transforms.metrics import StageMetrics
from transforms.stages.done import find_receipt
from transforms.stages.read import read_shard
from transforms.stages.work import ReadShard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transforms.model.shard import ShardPlan
    from transforms.stages.job import Job

DONE = "done"
"""Tag of the receipts of shards that an earlier, interrupted run has finished."""


class ReadObjects(beam.PTransform):
    """:class:`ShardPlan` to :class:`ReadShard`, with receipts of finished shards under ``DONE``."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job

    def expand(self, plans: beam.PCollection[ShardPlan]) -> beam.DoOutputsTuple:
        read = beam.ParDo(_Read(self._job)).with_output_types(ReadShard)
        return plans | "Read" >> read.with_outputs(DONE, main="read")


class _Read(beam.DoFn):
    def __init__(self, job: Job) -> None:
        self._job = job
        self._metrics = StageMetrics("ReadObjects")

    def process(self, plan: ShardPlan) -> Iterator[ReadShard | TaggedOutput]:
        receipt = find_receipt(plan, self._job)
        if receipt is not None:
            self._metrics.count(inputs=len(plan.reads), reused=len(plan.reads))
            yield TaggedOutput(DONE, receipt)
            return
        with self._metrics.timed():
            shard = read_shard(plan, self._job)
        self._metrics.count(
            inputs=len(plan.reads),
            outputs=len(shard.payloads),
            rejected=len(shard.rejections),
            reused=len(shard.touched),
        )
        yield shard

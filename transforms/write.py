"""WriteShard: complete rows to one pair of Parquet files and a receipt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apache_beam as beam

from transforms.metrics import StageMetrics
from transforms.stages.write import write_shard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transforms.model.shard import ShardReceipt
    from transforms.stages.job import Job
    from transforms.stages.work import EmbeddedShard


class WriteShard(beam.PTransform):
    """:class:`EmbeddedShard` to :class:`ShardReceipt`."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job

    def expand(self, shards: beam.PCollection[EmbeddedShard]) -> beam.PCollection[ShardReceipt]:
        return shards | "Write" >> beam.ParDo(_Write(self._job))


class _Write(beam.DoFn):
    def __init__(self, job: Job) -> None:
        self._job = job
        self._metrics = StageMetrics("WriteShard")

    def process(self, shard: EmbeddedShard) -> Iterator[ShardReceipt]:
        with self._metrics.timed():
            receipt = write_shard(shard, self._job)
        self._metrics.count(
            inputs=shard.chunks.num_rows, outputs=receipt.chunks, rejected=len(receipt.rejected)
        )
        yield receipt

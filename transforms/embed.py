"""EmbedChunks: chunk rows to complete rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apache_beam as beam

from transforms.metrics import StageMetrics
from transforms.stages.embed import embed_shard
from transforms.stages.work import EmbeddedShard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transforms.stages.job import Job
    from transforms.stages.work import ChunkedShard


class EmbedChunks(beam.PTransform):
    """:class:`ChunkedShard` to :class:`EmbeddedShard`."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job

    def expand(self, shards: beam.PCollection[ChunkedShard]) -> beam.PCollection[EmbeddedShard]:
        return shards | "Embed" >> beam.ParDo(_Embed(self._job)).with_output_types(EmbeddedShard)


class _Embed(beam.DoFn):
    def __init__(self, job: Job) -> None:
        self._job = job
        self._metrics = StageMetrics("EmbedChunks")

    def process(self, shard: ChunkedShard) -> Iterator[EmbeddedShard]:
        with self._metrics.timed():
            embedded = embed_shard(shard, self._job)
        rows = embedded.chunks.num_rows
        self._metrics.count(inputs=rows, outputs=rows, reused=rows - embedded.embedded)
        yield embedded

"""ChunkText: documents to chunk rows without vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apache_beam as beam

from transforms.metrics import StageMetrics
from transforms.stages.chunk import chunk_shard
from transforms.stages.work import ChunkedShard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transforms.stages.job import Job
    from transforms.stages.work import ExtractedShard


class ChunkText(beam.PTransform):
    """:class:`ExtractedShard` to :class:`ChunkedShard`."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job

    def expand(self, shards: beam.PCollection[ExtractedShard]) -> beam.PCollection[ChunkedShard]:
        return shards | "Chunk" >> beam.ParDo(_Chunk(self._job)).with_output_types(ChunkedShard)


class _Chunk(beam.DoFn):
    def __init__(self, job: Job) -> None:
        self._job = job
        self._metrics = StageMetrics("ChunkText")

    def process(self, shard: ExtractedShard) -> Iterator[ChunkedShard]:
        with self._metrics.timed():
            chunked = chunk_shard(shard, self._job)
        self._metrics.count(inputs=len(shard.documents), outputs=chunked.chunks.num_rows)
        yield chunked

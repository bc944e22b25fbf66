"""ExtractText: bytes to documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apache_beam as beam

from transforms.metrics import StageMetrics
from transforms.stages.extract import extract_shard
from transforms.stages.work import ExtractedShard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transforms.stages.job import Job
    from transforms.stages.work import ReadShard


class ExtractText(beam.PTransform):
    """:class:`ReadShard` to :class:`ExtractedShard`."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job

    def expand(self, shards: beam.PCollection[ReadShard]) -> beam.PCollection[ExtractedShard]:
        return shards | "Extract" >> beam.ParDo(_Extract(self._job)).with_output_types(ExtractedShard)


class _Extract(beam.DoFn):
    def __init__(self, job: Job) -> None:
        self._job = job
        self._metrics = StageMetrics("ExtractText")

    def process(self, shard: ReadShard) -> Iterator[ExtractedShard]:
        with self._metrics.timed():
            extracted = extract_shard(shard, self._job)
        self._metrics.count(
            inputs=len(shard.payloads),
            outputs=len(extracted.documents),
            rejected=len(extracted.rejections) - len(shard.rejections),
        )
        yield extracted

"""Turn a shard's bytes into documents; what cannot be read becomes a rejection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.extractors.isolate import extract_isolated
from transforms.model.errors import RejectedError
from transforms.stages.reject import rejection
from transforms.stages.work import ExtractedShard, SourceDocument

if TYPE_CHECKING:
    from transforms.model.shard import Rejection
    from transforms.stages.job import Job
    from transforms.stages.work import ReadShard

RECORD_SEPARATOR = "#"
"""Between an object's name and the record's id in ``doc_id``; grouping goes by column, not by it."""


def extract_shard(shard: ReadShard, job: Job) -> ExtractedShard:
    """The documents of every payload, in order of object name and then of their place in it."""
    source = job.source[shard.plan.source]
    documents: list[SourceDocument] = []
    rejections: list[Rejection] = list(shard.rejections)
    for payload in shard.payloads:
        info = payload.info
        try:
            extracted = extract_isolated(payload.data, info.name, source.extract)
        except RejectedError as error:
            rejections.append(rejection(source, info, "extract", error.reason, error.detail))
            continue
        documents.extend(
            SourceDocument(info, payload.sha256, doc_id(info.name, document.record), document)
            for document in extracted
        )
    return ExtractedShard(shard.plan, shard.carried, tuple(documents), shard.touched, tuple(rejections))


def doc_id(object_name: str, record: str | None) -> str:
    """The id of a document within its source."""
    return object_name if record is None else f"{object_name}{RECORD_SEPARATOR}{record}"

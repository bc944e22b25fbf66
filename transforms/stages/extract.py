"""Turn a shard's bytes into documents; what cannot be read becomes a rejection."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from transforms.extractors.isolate import extract_isolated
from transforms.model.errors import RejectedError
from transforms.model.ids import doc_id, id_inside
from transforms.planning.reject import rejection
from transforms.stages.timing import timed
from transforms.stages.work import ExtractedShard, SourceDocument

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from transforms.extractors.extraction import RefusedPart
    from transforms.model.objects import ObjectInfo
    from transforms.model.shard import Rejection
    from transforms.stages.job import Job, SourceSpec
    from transforms.stages.work import ReadShard


@timed("extract")
def extract_shard(shard: ReadShard, job: Job) -> ExtractedShard:
    """The documents of every payload, in their order, and those whose text the table has.

    What cannot be read, an object or a part of one, is a rejection, and its last good rows stay.
    """
    source = job.source[shard.plan.source]
    documents: list[SourceDocument] = []
    rejections: list[Rejection] = list(shard.rejections)
    stale: list[str] = []
    read: list[str] = []
    for payload in shard.payloads:
        info = payload.info
        try:
            found = extract_isolated(payload.data, info.name, source.extract, info.records)
        except RejectedError as error:
            rejections.append(rejection(source, info, "extract", error.reason, error.detail))
            continue
        own = [
            SourceDocument(info, payload.sha256, doc_id(info.name, document.record), document)
            for document in found.documents
        ]
        documents += own
        rejections += refused_parts(source, info, found.refused)
        if not own:
            read.append(info.name)
        stale += _stale(shard.carried.documents, info, {one.doc_id for one in own}, found.refused)
    carried = replace(shard.carried, stale=tuple(stale), read=tuple(read))
    return ExtractedShard(
        plan=shard.plan,
        carried=carried,
        documents=(*documents, *shard.stored),
        renew=shard.renew,
        touched=shard.touched,
        rejections=tuple(rejections),
        work=replace(shard.work, extracted=len(documents)),
    )


def refused_parts(
    source: SourceSpec, info: ObjectInfo, parts: Sequence[RefusedPart]
) -> Iterator[Rejection]:
    """A row for each part of an object that cannot be read."""
    for part in parts:
        own_id = doc_id(info.name, part.record)
        yield rejection(source, info, "extract", part.reason, part.detail, own_id)


def _stale(
    former: pa.Table, info: ObjectInfo, read: set[str], refused: Sequence[RefusedPart]
) -> Iterator[str]:
    """The former documents of an object that its refused parts stand for.

    Of a part whose name is unknown, as of a broken line with an id in it, any that is missing may be it; also where
    that part is in another range of the object.
    """
    unsure = (info.records is not None and info.records.unsure) or not all(one.is_named for one in refused)
    if not refused and not unsure:
        return
    ids = former.filter(pc.equal(former["object_name"], info.name))["doc_id"].to_pylist()
    missing = (one for one in ids if one not in read)
    if unsure:
        yield from missing
        return
    names = {doc_id(info.name, part.record) for part in refused}
    inside = tuple(id_inside(name, "") for name in names)
    yield from (one for one in missing if one in names or one.startswith(inside))

"""Read a shard's objects at the versions that were listed, and no more of them than is needed.

An object whose bytes are known is not extracted again: it goes on from its own former rows, or, under a new
name, from those of the object that it was moved or copied from.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from transforms.extractors.detect import reads_alike
from transforms.model.errors import (
    CredentialsError,
    NotFoundError,
    PreconditionError,
    StorageError,
    TooLargeError,
)
from transforms.model.ids import sha256_hex
from transforms.model.shard import Work
from transforms.planning.place import uris
from transforms.planning.redo import Redo
from transforms.planning.reject import rejection
from transforms.stages.parent import parent_of, refused_objects
from transforms.stages.recall import recall_of
from transforms.stages.stored import documents_of, formers_of
from transforms.stages.timing import timed
from transforms.stages.work import Carried, Payload, ReadShard
from transforms.storage.ahead import fetch_ahead
from transforms.storage.registry import open_store
from transforms.storage.roots import local_path
from transforms.storage.version import read_spans
from transforms.table.columns import count_true, replace_column
from transforms.table.layout import CHUNKS, DOCUMENTS
from transforms.table.schema import CHUNKS as CHUNK_COLUMNS
from transforms.table.schema import DOCUMENTS as DOCUMENT_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transforms.model.objects import ObjectInfo
    from transforms.model.shard import Rejection, ShardPlan
    from transforms.stages.job import Job, SourceSpec
    from transforms.stages.stored import Former
    from transforms.stages.work import SourceDocument

AT_ONCE = 8
"""Requests to a bucket under way; clients of stores keep ten connections."""
_AHEAD_BYTES = 32 * 2**20
"""What may be under way or waiting for its turn."""


@timed("read")
def read_shard(plan: ShardPlan, job: Job) -> ReadShard:
    """The bytes of every object to read, and the rows that the shard had before.

    An object that cannot be read is a rejection. One that was replaced since it was listed is left to
    the next run, so that no row mixes two versions.
    """
    carried = _carried(plan, job)
    reading = _Reading(job, job.source[plan.source])
    names = [*(info.name for info in plan.reads), *plan.redo]
    formers = formers_of(carried.documents, names, reading.source.recipe)
    reading.touched += plan.touched
    listed = {info.name: info for info in plan.touched}
    for name in plan.redo:
        former = formers[name]
        reading.go_on(listed.get(name, former.info), former, None)
    refused = refused_objects(job).get(plan.source, frozenset())
    for info, outcome in zip(plan.reads, _read_ahead(plan, reading.source, job), strict=True):
        known = None if job.full or info.name in refused else formers.get(info.name)
        reading.take(info, outcome, known)
    reading.take_along()
    return ReadShard(
        plan=plan,
        carried=carried,
        payloads=tuple(reading.payloads),
        stored=tuple(reading.stored),
        renew=tuple(reading.renew),
        touched=tuple(reading.touched),
        rejections=tuple(reading.rejections),
        work=Work(opened=reading.opened),
    )


@dataclass(slots=True)
class _Reading:
    """What has come of a shard's objects so far."""

    job: Job
    source: SourceSpec
    payloads: list[Payload] = field(default_factory=list)
    stored: list[SourceDocument] = field(default_factory=list)
    renew: list[ObjectInfo] = field(default_factory=list)
    touched: list[ObjectInfo] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    opened: int = 0

    def take(self, info: ObjectInfo, outcome: Payload | Rejection, former: Former | None) -> None:
        """Take what was read; where its bytes are those that its rows were made from, go on from these."""
        payload = self._payload(outcome)
        if payload is None:
            return
        if former is None or former.redo == Redo.READ or former.sha256 != payload.sha256:
            self.payloads.append(payload)
        else:
            self.touched.append(info)
            self.go_on(info, former, payload)

    def go_on(self, info: ObjectInfo, former: Former, payload: Payload | None) -> None:
        """Take an object up at the first stage whose recipe is another, from its former rows."""
        if former.redo in (Redo.SPARSE, Redo.EMBED):
            self.renew.append(info)
        elif former.redo == Redo.CHUNK and former.has_text:
            self.stored += documents_of(former.rows, info)
        elif former.redo == Redo.CHUNK:
            payload = payload or self._payload(_read(info, self.source, self.job.max_object_bytes))
            if payload is not None:
                self.payloads.append(payload)

    def take_along(self) -> None:
        """Replace payloads by documents that the snapshot has of the same bytes under another name."""
        # A range would find the rows of all ranges.
        whole = [payload.sha256 for payload in self.payloads if payload.info.records is None]
        rows = recall_of(self.job).documents(whole)
        origins: dict[str, list[Former]] = {}
        for source in rows["source_name"].unique().to_pylist():
            own = rows.filter(pc.equal(rows["source_name"], source))
            for former in formers_of(own, own["object_name"].to_pylist(), self.source.recipe).values():
                if former.redo != Redo.READ and former.has_text:
                    origins.setdefault(former.sha256, []).append(former)
        left = []
        for payload in self.payloads:
            alike = (
                one
                for one in origins.get(payload.sha256, ())
                if payload.info.records is None and reads_alike(one.info.name, payload.info.name)
            )
            origin = next(alike, None)
            if origin is None:
                left.append(payload)
            else:
                self.stored += documents_of(origin.rows, payload.info)
        self.payloads = left

    def _payload(self, outcome: Payload | Rejection) -> Payload | None:
        if isinstance(outcome, Payload):
            self.opened += outcome.info.is_first
            return outcome
        self.rejections.append(outcome)
        return None


def _carried(plan: ShardPlan, job: Job) -> Carried:
    parent = parent_of(job)
    all_chunks, all_documents = [CHUNK_COLUMNS.empty_table()], [DOCUMENT_COLUMNS.empty_table()]
    source = job.source[plan.source]
    takes = plan.takes or (None,) * len(plan.parents)
    for shard, runs in zip(plan.parents, takes, strict=True) if parent is not None else ():
        if parent is not None:
            chunks = parent.shard_table(CHUNKS, source.slug, shard)
            documents = parent.shard_table(DOCUMENTS, source.slug, shard)
            if runs is not None:
                documents = pa.concat_tables(documents.slice(start, end - start) for start, end in runs)
                chunks = chunks.filter(pc.is_in(chunks["doc_id"], documents["doc_id"].combine_chunks()))
            place = uris(source, documents["object_name"])
            row = pc.index_in(chunks["doc_id"], value_set=documents["doc_id"].combine_chunks())
            all_chunks.append(_put(chunks, place.take(row), job))
            all_documents.append(_put(documents, place, job))
    return Carried(pa.concat_tables(all_chunks), pa.concat_tables(all_documents))


def _put(rows: pa.Table, place: pa.ChunkedArray, job: Job) -> pa.Table:
    """Rows with today's ``doc_uri``; one that had another has changed in this run."""
    moved = pc.not_equal(rows["doc_uri"], place)
    if not count_true(moved):
        return rows
    numbers = pc.if_else(moved, pa.scalar(job.snapshot, pa.int64()), rows["changed_in"])
    return replace_column(replace_column(rows, "doc_uri", place), "changed_in", numbers)


def _read_ahead(plan: ShardPlan, source: SourceSpec, job: Job) -> Iterator[Payload | Rejection]:
    """What comes of each object to read, in order. A bucket is asked for some at once, a disk gains nothing by it."""
    return fetch_ahead(
        plan.reads,
        lambda info: _read(info, source, job.max_object_bytes),
        lambda info: info.read_size,
        threads=AT_ONCE if local_path(open_store(source.root).root) is None else 1,
        budget=_AHEAD_BYTES,
    )


def _read(info: ObjectInfo, source: SourceSpec, limit: int) -> Payload | Rejection:
    if info.read_size > limit:
        detail = f"{info.read_size:,} bytes are over limits.max_object_bytes = {limit:,}."
        return rejection(source, info, "read", "too_large", detail)
    store = open_store(source.root)
    try:
        if info.records is not None:
            data = read_spans(store, info.name, info.token, info.records.spans)
            return Payload(info, data, info.records.object_sha256)
        data = store.read(info.name, token=info.token, limit=limit)
    except (NotFoundError, PreconditionError):
        detail = "The object was replaced or deleted after it was listed; the next run reads it."
        return rejection(source, info, "read", "changed_while_reading", detail)
    except TooLargeError as error:
        return rejection(source, info, "read", "too_large", str(error))
    except CredentialsError:
        # No object is at fault, and none can be read.
        raise
    except StorageError as error:
        return rejection(source, info, "read", "unreadable", str(error))
    return Payload(info, data, sha256_hex(data))

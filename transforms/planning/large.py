"""Objects that have shards of their own: large ones of records, each range of them in its shard.

A shard is where rows are replaced together, so a record's former row must be where its new one is made, whatever
range it was in before. That is settled here, from the names of the records then and now: each former document goes
to the range that has its record, and one whose record is gone to the range that has most of its neighbours.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.extractors.ranges import cut_records, may_be_cut
from transforms.model.errors import PreconditionError, StorageError
from transforms.model.ids import fingerprint, id_inside, id_part
from transforms.model.shard import ShardPlan
from transforms.planning.known import COLUMNS, redo_of, rejected_table
from transforms.planning.plan import Large
from transforms.planning.redo import Redo
from transforms.planning.reject import rejection
from transforms.planning.shards import infos_of, shards_of
from transforms.storage.registry import open_store
from transforms.storage.version import opened_version
from transforms.table.layout import DOCUMENTS
from transforms.table.reader import Snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from transforms.extractors.ranges import NamedRange
    from transforms.model.objects import ObjectInfo
    from transforms.model.shard import Rejection, Runs
    from transforms.planning.diff import Diff
    from transforms.stages.job import Job, SourceSpec

_ELSEWHERE = -1
"""The owner of a document of another object."""
_MARKED = "#|%2[35]"
"""What is written otherwise in an id."""


def large_objects(job: Job, source: str, diff: Diff) -> Large:
    """What is done with the large objects among those to read, and with those that have been large."""
    spec = job.source[source]
    spread = shards_of(diff)
    refused = rejected_table(job, source)["object_name"].to_pylist()
    cutting = _Cutting(job, spec, frozenset(refused))
    for info, shard in infos_of(diff.reads):
        shards = spread.get(info.name, () if shard is None else (shard,))
        if len(shards) > 1 or _is_large(info, spec, job):
            cutting.take(info, shards)
    return cutting.outcome()


def _is_large(info: ObjectInfo, source: SourceSpec, job: Job) -> bool:
    return info.size > 2 * job.shard_bytes and may_be_cut(info.name, source.extract)


@dataclass(slots=True)
class _Cutting:
    """What has come of the objects so far."""

    job: Job
    source: SourceSpec
    refused: frozenset[str]
    """Objects with rejections in the last snapshot."""
    names: set[str] = field(default_factory=set)
    plans: list[ShardPlan] = field(default_factory=list)
    touched: list[tuple[ObjectInfo, str]] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    bytes_at_rest: int = 0
    owners: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    """For each document of a former shard the place of the plan that continues it."""
    leaving: Counter[str] = field(default_factory=Counter)

    def take(self, info: ObjectInfo, shards: Sequence[str]) -> None:
        """Decide about one object, which has rows in some shards."""
        try:
            ranges = _ranges(info, self.source, self.job)
        except StorageError as error:
            self._leave(info, error)
            return
        if not ranges and len(shards) < 2:
            # It is an object like others.
            return
        self.names.add(info.name)
        former = _Former.of(info.name, shards, self.source, self.job)
        if ranges and self._is_same(former, ranges[0].records.object_sha256):
            self.touched.append((info, shards[0]))
            self.bytes_at_rest += info.size
        else:
            self._plan(info, ranges, former)

    def outcome(self) -> Large:
        """All of it."""
        stays: dict[str, Runs] = {}
        takes: defaultdict[int, dict[str, Runs]] = defaultdict(dict)
        for shard, owners in sorted(self.owners.items()):
            for place in np.unique(owners).tolist():
                mine = stays if place == _ELSEWHERE else takes[place]
                mine[shard] = _runs(owners == place)
        return Large(
            names=frozenset(self.names),
            plans=tuple(
                replace(plan, parents=tuple(takes[place]), takes=tuple(takes[place].values()))
                for place, plan in enumerate(self.plans)
            ),
            touched=tuple(self.touched),
            rejections=tuple(self.rejections),
            bytes_at_rest=self.bytes_at_rest,
            leaving=dict(self.leaving),
            stays=stays,
        )

    def _is_same(self, former: _Former, sha256: str) -> bool:
        """Whether all of an object's rows are those of today for these bytes, and none is missing."""
        if self.job.full or former.name in self.refused:
            return False
        return former.holds(sha256)

    def _leave(self, info: ObjectInfo, error: StorageError) -> None:
        reason = "changed_while_reading" if isinstance(error, PreconditionError) else "unreadable"
        self.names.add(info.name)
        self.rejections.append(rejection(self.source, info, "read", reason, str(error)))
        self.bytes_at_rest += info.size

    def _plan(self, info: ObjectInfo, ranges: Sequence[NamedRange], former: _Former) -> None:
        first = len(self.plans)
        for number, records in enumerate([one.records for one in ranges] or [None]):
            shard = fingerprint(self.source.name, info.name, "range", str(number))[:16]
            reads = (replace(info, records=records),)
            self.plans.append(ShardPlan(self.source.name, shard, "", reads=reads))
        owners = former.owners([_ids(info.name, one.names) for one in ranges])
        for shard, own in owners.items():
            known = self.owners.setdefault(shard, np.full(len(own), _ELSEWHERE))
            known[own != _ELSEWHERE] = own[own != _ELSEWHERE] + first
            self.leaving[shard] += 1


@dataclass(frozen=True, slots=True)
class _Former:
    """The rows that an object had, among the documents of some shards."""

    name: str
    documents: dict[str, pa.Table]
    source: SourceSpec

    @classmethod
    def of(cls, name: str, shards: Sequence[str], source: SourceSpec, job: Job) -> _Former:
        """Those of the last snapshot."""
        if job.parent is None or not shards:
            return cls(name, {}, source)
        snapshot = Snapshot.open(open_store(job.table), job.parent)
        columns = ["doc_id", "object_sha256", *COLUMNS]
        tables = {
            shard: snapshot.shard_table(DOCUMENTS, source.slug, shard, columns) for shard in sorted(shards)
        }
        return cls(name, tables, source)

    def holds(self, sha256: str) -> bool:
        """Whether there are rows, all of today's recipe and of just these bytes."""
        if not self.documents:
            return False
        rows = pa.concat_tables(table.filter(self._own(table)) for table in self.documents.values())
        same = pc.all(pc.equal(rows["object_sha256"], sha256)).as_py()
        return bool(same and (redo_of(rows, self.source.recipe) == Redo.NOTHING).all())

    def owners(self, ranges: Sequence[pa.Array]) -> dict[str, NDArray[np.int64]]:
        """For each document the range that has its id among these; of gone ones that of most of its shard."""
        ids = pa.concat_arrays([pa.array([], pa.string()), *ranges])
        ends = np.cumsum([len(one) for one in ranges])
        owners = {}
        for number, (shard, table) in enumerate(self.documents.items()):
            own = self._own(table).to_numpy()
            place = pc.index_in(table["doc_id"].filter(pa.array(own)), value_set=ids)
            found = np.searchsorted(ends, place.drop_null().to_numpy(), side="right")
            home = np.bincount(found).argmax() if len(found) else min(number, max(0, len(ranges) - 1))
            of_object = np.full(int(own.sum()), home)
            of_object[place.is_valid().to_numpy()] = found
            owners[shard] = np.full(len(own), _ELSEWHERE)
            owners[shard][own] = of_object
        return owners

    def _own(self, table: pa.Table) -> pa.ChunkedArray:
        return pc.equal(table["object_name"], self.name)


def _ranges(info: ObjectInfo, source: SourceSpec, job: Job) -> tuple[NamedRange, ...]:
    """The ranges of the version that was listed; none where it is read whole."""
    if not _is_large(info, source, job):
        return ()
    with opened_version(open_store(source.root), info.name, info.token) as file:
        size = min(job.shard_bytes, job.max_object_bytes // 2)
        return cut_records(file, info.name, source.extract, size, job.max_object_bytes)


def _ids(object_name: str, names: pa.Array) -> pa.Array:
    """The ids of documents, from what their records are called."""
    if pc.any(pc.match_substring_regex(names, _MARKED)).as_py():
        names = pa.array([id_part(name) for name in names.to_pylist()], pa.string())
    return pc.binary_join_element_wise(id_inside(id_part(object_name), ""), names, "")


def _runs(chosen: NDArray[np.bool_]) -> Runs:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]]).astype(np.int8)))
    return tuple(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))

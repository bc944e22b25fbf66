"""How far a run is, as its plans and done records on storage say: the same for any runner and any number of workers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from transforms.model.errors import StorageError
from transforms.storage.registry import open_store
from transforms.table.layout import done_dir, done_path, plan_path

if TYPE_CHECKING:
    from transforms.stages.job import Job


@dataclass(frozen=True, slots=True)
class Progress:
    """What is known of a run; ``planned`` is None until all sources are compared."""

    planned: int | None = None
    """Shards to work on."""
    objects: int = 0
    """Objects to read for them."""
    done: int = 0
    """Shards that are finished; the counts are of these."""
    documents: int = 0
    chunks: int = 0
    rejected: int = 0


class Watch:
    """Looks at one run from outside. Each look reads what is new since the last one."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._store = open_store(job.table)
        # An interrupted run may have left plans for the same snapshot: those do not count.
        self._former = {source.slug: self._version(source.slug) for source in job.sources}
        self._shards: dict[str, dict[str, str]] = {}
        """By slug the planned shards, and what each is made from."""
        self._objects = 0
        self._versions: dict[str, str] = {}
        """Which version of a done record was read last, by its path."""
        self._finished: dict[str, Progress] = {}
        """What the done records of planned shards say."""

    def look(self) -> Progress:
        """How far the run is now. What cannot be read at this moment is left to the next look."""
        try:
            self._read_plans()
            self._read_done()
        except (StorageError, ValueError):
            # Whoever only watches ends no run.
            pass
        return self._sum()

    def _version(self, slug: str) -> str | None:
        try:
            info = self._store.stat(plan_path(self._job.snapshot, slug))
        except StorageError:
            return None
        return None if info is None else info.token

    def _read_plans(self) -> None:
        for slug in self._former.keys() - self._shards.keys():
            if self._version(slug) in (None, self._former[slug]):
                continue
            plan = json.loads(self._store.read(plan_path(self._job.snapshot, slug)))
            self._shards[slug] = {shard["shard"]: shard["inputs"] for shard in plan["shards"]}
            self._objects += sum(len(shard["reads"]) for shard in plan["shards"])

    def _read_done(self) -> None:
        wanted = {
            done_path(self._job.snapshot, slug, shard): inputs
            for slug, shards in self._shards.items()
            for shard, inputs in shards.items()
        }
        for page in self._store.list(done_dir(self._job.snapshot)) if wanted else ():
            for info in page:
                if info.name in wanted and self._versions.get(info.name) != info.token:
                    self._read_receipt(info.name, wanted[info.name])
                    self._versions[info.name] = info.token

    def _read_receipt(self, path: str, inputs: str) -> None:
        record = json.loads(self._store.read(path))
        # One of an interrupted run may be of what was there then: the shard is worked on again.
        if record["inputs"] == inputs:
            rejected = len(record["rejected"])
            self._finished[path] = Progress(
                done=1, documents=record["documents"], chunks=record["chunks"], rejected=rejected
            )

    def _sum(self) -> Progress:
        done = list(self._finished.values())
        complete = len(self._shards) == len(self._former)
        return Progress(
            planned=sum(map(len, self._shards.values())) if complete else None,
            objects=self._objects,
            done=len(done),
            documents=sum(one.documents for one in done),
            chunks=sum(one.chunks for one in done),
            rejected=sum(one.rejected for one in done),
        )

"""How far a run is, as its plans and done records on storage say: the same for any runner and any number of workers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from transforms.model.errors import NotFoundError, StorageError
from transforms.table.layout import done_dir, done_path, plan_path

if TYPE_CHECKING:
    from transforms.stages.about import About
    from transforms.storage.protocol import Store


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
    embedded: int = 0
    """Texts that were embedded."""
    reused: int = 0
    """Chunks with a vector that was there before, or of an equal text."""
    tokens: int = 0
    """Tokens that were embedded."""
    cost: float | None = None
    """US dollars for them; None where nothing is paid, or the price is not known."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A document that was rejected, as it happened."""

    document: str
    reason: str
    detail: str


class Watch:
    """Looks at one run from outside. Each look reads what is new since the last one."""

    def __init__(self, store: Store, about: About) -> None:
        self._store = store
        self._about = about
        self._shards: dict[str, dict[str, str]] = {}
        """By slug the planned shards, and what each is made from."""
        self._objects = 0
        self._versions: dict[str, str] = {}
        """Which version of a done record was read last, by its path."""
        self._finished: dict[str, Progress] = {}
        """What the done records of planned shards say."""
        self._rejected: list[Rejected] = []

    def look(self) -> Progress:
        """How far the run is now. What cannot be read at this moment is left to the next look."""
        try:
            self._read_plans()
            self._read_done()
        except (StorageError, ValueError):
            # Whoever only watches ends no run.
            pass
        return self._sum()

    def rejections(self) -> list[Rejected]:
        """Those that were seen since this was asked last."""
        found, self._rejected = self._rejected, []
        return found

    def _read_plans(self) -> None:
        for slug in sorted(set(self._about.slugs) - self._shards.keys()):
            try:
                plan = json.loads(self._store.read(plan_path(self._about.snapshot, slug)))
            except NotFoundError:
                continue
            # An interrupted run may have left a plan for the same snapshot: that one does not count.
            if plan.get("run_id") == self._about.run_id:
                self._shards[slug] = {shard["shard"]: shard["inputs"] for shard in plan["shards"]}
                self._objects += sum(map(_is_first, (one for s in plan["shards"] for one in s["reads"])))

    def _read_done(self) -> None:
        wanted = {
            done_path(self._about.snapshot, slug, shard): inputs
            for slug, shards in self._shards.items()
            for shard, inputs in shards.items()
        }
        for page in self._store.list(done_dir(self._about.snapshot)) if wanted else ():
            for info in page:
                if info.name in wanted and self._versions.get(info.name) != info.token:
                    self._read_receipt(info.name, wanted[info.name])
                    self._versions[info.name] = info.token

    def _read_receipt(self, path: str, inputs: str) -> None:
        record = json.loads(self._store.read(path))
        # One of an interrupted run may be of what was there then: the shard is worked on again.
        if record["inputs"] == inputs:
            self._finished[path] = _of_receipt(record)
            self._rejected += [
                Rejected(f"{one['source']}/{one['doc_id']}", one["reason"], one["detail"])
                for one in record["rejected"]
            ]

    def _sum(self) -> Progress:
        done = list(self._finished.values())
        complete = len(self._shards) == len(self._about.slugs)
        tokens = sum(one.tokens for one in done)
        price = self._about.price
        return Progress(
            planned=sum(map(len, self._shards.values())) if complete else None,
            objects=self._objects,
            done=len(done),
            documents=sum(one.documents for one in done),
            chunks=sum(one.chunks for one in done),
            rejected=sum(one.rejected for one in done),
            embedded=sum(one.embedded for one in done),
            reused=sum(one.reused for one in done),
            tokens=tokens,
            cost=tokens * price / 1_000_000 if price else None,
        )


def _of_receipt(record: dict[str, Any]) -> Progress:
    return Progress(
        done=1,
        documents=record["documents"],
        chunks=record["chunks"],
        rejected=len(record["rejected"]),
        embedded=record["embedded"],
        reused=record["chunks"] - record["embedded"],
        tokens=record["embedded_tokens"],
    )


def _is_first(read: dict[str, Any]) -> bool:
    """Whether an object to read is whole, or the first range of one."""
    return read["records"] is None or read["records"]["before"] == 0

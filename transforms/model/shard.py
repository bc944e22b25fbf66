"""The unit of work and of output: a shard on its way through the stages.

A plan is a reference (names and versions) and crosses the shuffle; everything else is made from it
inside one fused stage and never leaves the worker.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from transforms.model.objects import ObjectInfo

Runs: TypeAlias = tuple[tuple[int, int], ...]
"""Rows of a table, as half-open runs of their numbers."""


@dataclass(frozen=True, slots=True)
class ShardPlan:
    """What one shard has to do: which objects to read, what to carry over, what to let go.

    ``reads`` are new and changed objects in name order, ``touched`` have another version that the store says
    is the same bytes, ``redo`` names objects whose rows are of another recipe than today's. ``parents`` are
    the shards of the last snapshot that this one continues, ``drops`` the objects of them that are gone; their
    rows in none of these are carried over as they are.
    """

    source: str
    shard: str
    inputs: str
    """Fingerprint of names, versions and recipe: a done record with another one does not count."""
    reads: tuple[ObjectInfo, ...] = ()
    touched: tuple[ObjectInfo, ...] = ()
    redo: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    takes: tuple[Runs | None, ...] = ()
    """For each parent the rows of its documents that this shard continues, where others continue the rest; None, and
    nothing at all: all of them."""


@dataclass(frozen=True, slots=True)
class Work:
    """What was done for a shard, stage by stage: the cost that grows with the change."""

    opened: int = 0
    """Objects whose bytes were read."""
    extracted: int = 0
    """Documents made from bytes."""
    chunked: int = 0
    """Documents cut."""
    seconds: tuple[tuple[str, float], ...] = ()
    """Stages, and the time spent in each, wall clock."""

    def after(self, stage: str, seconds: float) -> Work:
        """The same with a stage more."""
        return replace(self, seconds=(*self.seconds, (stage, round(seconds, 3))))


NO_WORK = Work()


@dataclass(frozen=True, slots=True)
class Rejection:
    """One document that cannot be indexed: a row of the rejected table."""

    source: str
    doc_id: str
    object_name: str
    doc_uri: str
    stage: str
    reason: str
    detail: str
    object_size: int
    object_token: str
    recipe: str


@dataclass(frozen=True, slots=True)
class FileInfo:
    """One published file; ``path`` is relative to the snapshot's directory."""

    path: str
    source: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ShardReceipt:
    """What a finished shard reports: its files, its counts, its refusals. Small."""

    source: str
    shard: str
    inputs: str
    documents: int = 0
    chunks: int = 0
    embedded: int = 0
    """Texts that were embedded."""
    repeated: int = 0
    """Chunks that share the vector of an equal text embedded in this run."""
    embedded_tokens: int = 0
    files: tuple[FileInfo, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    deleted: tuple[str, ...] = ()
    """Chunk ids of the previous snapshot that this shard no longer has."""
    gone: int = 0
    """Documents of the previous snapshot that this shard no longer has."""
    work: Work = NO_WORK
    empty: int = 0
    """Texts that were embedded and got no vector, nor a refusal."""
    stopped: bool = False
    """The budget was used up before it was done: it has no files."""
    notices: tuple[str, ...] = ()
    """What its embedder noticed that concerns the whole run."""
    differs: bool = True
    """Whether any row of the shard, documents included, differs from the previous snapshot's."""

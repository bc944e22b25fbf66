"""What one run does with one source: a record small enough to keep and to show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from transforms.model.objects import ObjectInfo
from transforms.model.shard import Rejection, Runs, ShardPlan


@dataclass(frozen=True, slots=True)
class Large:
    """What is done with the objects of a source that have shards of their own."""

    names: frozenset[str] = frozenset()
    """All objects that are meant."""
    plans: tuple[ShardPlan, ...] = ()
    touched: tuple[tuple[ObjectInfo, str], ...] = ()
    """Objects that hold the bytes that they held, and a shard that has rows of each."""
    rejections: tuple[Rejection, ...] = ()
    """Of objects that cannot be read now: their rows stay as they are."""
    bytes_at_rest: int = 0
    """Bytes of those of both kinds."""
    leaving: Mapping[str, int] = field(default_factory=dict)
    """How many objects the plans take out of each shard."""
    stays: Mapping[str, Runs] = field(default_factory=dict)
    """The documents that stay in shards with other objects besides."""


NOTHING_LARGE = Large()


@dataclass(frozen=True, slots=True)
class SourcePlan:
    """The plan of one source: the shards to work on, those to keep, and the counts behind it."""

    source: str
    shards: tuple[ShardPlan, ...]
    kept_shards: tuple[str, ...]
    kept_rejections: tuple[Rejection, ...]
    """Documents that failed before and have not changed since: they are not tried again."""
    listed: int
    new: int
    changed: int
    unchanged: int
    gone: int
    work_bytes: int
    """Bytes of the objects to read, or to chunk or embed again."""
    problem: str = ""
    """Why the source could not be listed whole: then all its rows are kept as they are."""
    moved: int = 0
    """Of the new objects those that seem to be a gone one under another name."""
    moved_bytes: int = 0
    touched: int = 0
    """Of the changed objects those whose bytes are the same for certain."""
    redo: int = 0
    """Of the changed objects those that are chunked or embedded again, and not read."""
    known_bytes: int = 0
    """Of ``work_bytes`` those of objects that get no other dense vectors: other sparse ones, or another place."""

    tables: Mapping[str, int] = field(default_factory=dict)
    """Folders below the source that are tables, and how many objects of each were left out."""

    @property
    def known(self) -> int:
        """Objects of the last snapshot."""
        return self.changed + self.unchanged + self.gone

    def notices(self) -> Iterator[str]:
        """What a person should know of the source's listing."""
        for folder, count in sorted(self.tables.items()):
            yield (
                f"Source `{self.source}`: {folder} is a table. What it is made of was left out ({count:,} files); name "
                "it in `exclude` to be told no more."
            )

"""Cut a source's work into shards.

A shard that exists is rebuilt if anything in it changed; new objects form new shards. New shards end at
places that the names themselves choose, so that a few more names move few cuts. Large objects of records have
shards of their own, which :mod:`transforms.planning.large` cuts.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from transforms.model.ids import fingerprint
from transforms.model.objects import ObjectInfo
from transforms.model.shard import Rejection, ShardPlan
from transforms.planning.compact import MAX_OBJECTS, joined_shards
from transforms.planning.plan import NOTHING_LARGE, Large, SourcePlan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from transforms.model.shard import Runs
    from transforms.planning.diff import Diff


@dataclass(slots=True)
class _Work:
    """What is to be done in one shard that exists."""

    reads: list[ObjectInfo] = field(default_factory=list)
    touched: list[ObjectInfo] = field(default_factory=list)
    redo: list[str] = field(default_factory=list)
    drops: list[str] = field(default_factory=list)
    takes: Runs | None = None


def plan_source(
    source: str, diff: Diff, recipe: str, shard_bytes: int, large: Large = NOTHING_LARGE
) -> SourcePlan:
    """The shards of one source's run: those that continue others first, then new ones, in order of name.

    Args:
        source: its name.
        diff: what has changed.
        recipe: what goes into the inputs of each shard besides its objects.
        shard_bytes: what a shard aims at.
        large: what is done with the objects that have shards of their own; the rest is done here.
    """
    reads = [(info, shard) for info, shard in infos_of(diff.reads) if info.name not in large.names]
    new = [info for info, shard in reads if shard is None]
    work = _work(diff, reads, large)
    # Joining alone changes no row, so it waits for a night that publishes something.
    groups = (
        joined_shards(diff.shards, _lost(diff, work, large), shard_bytes)
        if work or new or large.plans
        else []
    )
    shards = (
        *_continued(source, work, groups, recipe),
        *(_plan(replace(plan, inputs=recipe)) for plan in large.plans),
        *_new(source, new, recipe, shard_bytes),
    )
    continued = {parent for plan in shards for parent in plan.parents}
    moved, moved_bytes = _moved(diff)
    return SourcePlan(
        source=source,
        shards=shards,
        kept_shards=tuple(one for one in diff.shards["shard"].to_pylist() if one not in continued),
        kept_rejections=(*rejections_of(diff.kept_rejections), *large.rejections),
        listed=diff.listed,
        new=diff.new,
        changed=diff.changed,
        unchanged=diff.unchanged,
        gone=diff.gone.num_rows,
        work_bytes=_bytes_of(diff.reads) + _bytes_of(diff.redo) - large.bytes_at_rest,
        moved=moved,
        moved_bytes=moved_bytes,
        touched=diff.touched.num_rows + len(large.touched),
        redo=diff.redo.num_rows,
        known_bytes=diff.known_bytes,
    )


def rejections_of(table: pa.Table) -> tuple[Rejection, ...]:
    """Rows of the rejected table as records."""
    names = ["source" if name == "source_name" else name for name in table.column_names]
    return tuple(Rejection(**row) for row in table.rename_columns(names).to_pylist())


def shard_ends(infos: Sequence[ObjectInfo], shard_bytes: int) -> list[int]:
    """Where shards end in a sequence in name order, as indexes after their last object.

    A shard ends behind a name with a chance of its size over ``shard_bytes``, drawn from the name's own
    hash; not below a quarter of ``shard_bytes``, and at twice that at the latest.
    """
    ends: list[int] = []
    held = count = 0
    for index, info in enumerate(infos):
        if count and (held + info.size > 2 * shard_bytes or count >= MAX_OBJECTS):
            ends.append(index)
            held = count = 0
        held += info.size
        count += 1
        if held >= shard_bytes // 4 and _draw(info.name) * shard_bytes < info.size:
            ends.append(index + 1)
            held = count = 0
    if count:
        ends.append(len(infos))
    return ends


def _draw(name: str) -> float:
    """A number in [0, 1) that belongs to the name."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:7], "big") / 2**56


def infos_of(table: pa.Table) -> Iterator[tuple[ObjectInfo, str | None]]:
    """The objects of a table of a :class:`~transforms.planning.diff.Diff`, and the shard that each is in."""
    columns = (table[name].to_pylist() for name in ("object_name", "size", "token", "checksum", "shard"))
    for name, size, token, checksum, shard in zip(*columns, strict=True):
        yield ObjectInfo(name, size, token, checksum), shard


def _work(diff: Diff, reads: Iterable[tuple[ObjectInfo, str | None]], large: Large) -> dict[str, _Work]:
    """What is to be done, by shard that exists."""
    spread = shards_of(diff)
    work: defaultdict[str, _Work] = defaultdict(_Work)
    for info, shard in reads:
        if shard is not None:
            work[shard].reads.append(info)
    for info, shard in (*infos_of(diff.touched), *large.touched):
        for one in spread.get(info.name, (str(shard),)):
            work[one].touched.append(info)
    for name, shard in zip(*_names_and_shards(diff.redo), strict=True):
        for one in spread.get(name, (shard,)):
            work[one].redo.append(name)
    for name, shard in zip(*_names_and_shards(diff.gone), strict=True):
        for one in spread.get(name, (shard,)):
            work[one].drops.append(name)
    for shard, runs in large.stays.items():
        work[shard].takes = runs
    return work


def shards_of(diff: Diff) -> dict[str, tuple[str, ...]]:
    """All shards of each object that has rows in several."""
    spread: defaultdict[str, list[str]] = defaultdict(list)
    for name, shard in zip(*_names_and_shards(diff.spread), strict=True):
        spread[name].append(shard)
    return {name: tuple(sorted(shards)) for name, shards in spread.items()}


def _names_and_shards(table: pa.Table) -> tuple[list[str], list[str]]:
    return table["object_name"].to_pylist(), table["shard"].to_pylist()


def _lost(diff: Diff, work: Mapping[str, _Work], large: Large) -> dict[str, tuple[int, int]]:
    """Objects and bytes that shards lose: to nowhere, or to shards of their own."""
    size_of = dict(zip(diff.gone["object_name"].to_pylist(), diff.gone["size"].to_pylist(), strict=True))
    lost = {
        shard: (len(one.drops) + large.leaving.get(shard, 0), sum(size_of[name] for name in one.drops))
        for shard, one in work.items()
    }
    return {shard: (count, 0) for shard, count in large.leaving.items()} | lost


def _continued(
    source: str, work: Mapping[str, _Work], groups: Sequence[tuple[str, ...]], recipe: str
) -> Iterator[ShardPlan]:
    """Plans of shards that continue one of the last snapshot, or several as one."""
    joined = {shard for group in groups for shard in group}
    alone = [(shard,) for shard in work if shard not in joined]
    for parents in sorted([*alone, *groups]):
        every = [work[shard] for shard in parents if shard in work]
        name = parents[0] if len(parents) == 1 else fingerprint(source, "joined", *parents)[:16]
        yield _plan(
            ShardPlan(
                source=source,
                shard=name,
                inputs=recipe,
                reads=tuple(sorted((i for one in every for i in one.reads), key=lambda info: info.name)),
                touched=tuple(info for one in every for info in one.touched),
                redo=tuple(name for one in every for name in one.redo),
                drops=tuple(name for one in every for name in one.drops),
                parents=parents,
                takes=_takes(work, parents),
            )
        )


def _takes(work: Mapping[str, _Work], parents: Sequence[str]) -> tuple[Runs | None, ...]:
    takes = tuple(work[shard].takes if shard in work else None for shard in parents)
    return takes if any(one is not None for one in takes) else ()


def _new(source: str, infos: Sequence[ObjectInfo], recipe: str, shard_bytes: int) -> Iterator[ShardPlan]:
    for start, end in pairwise([0, *shard_ends(infos, shard_bytes)]):
        part = tuple(infos[start:end])
        # The names alone: the same corpus gives the same files, whatever its time stamps are.
        name = fingerprint(source, *(info.name for info in part))[:16]
        yield _plan(ShardPlan(source, name, recipe, reads=part))


def _plan(plan: ShardPlan) -> ShardPlan:
    """The plan with its inputs: so far they hold the recipe alone."""
    versions = (part for info in (*plan.reads, *plan.touched) for part in (info.name, info.token))
    ranges = (repr(info.records) for info in plan.reads if info.records is not None)
    takes = ("takes", repr(plan.takes)) if plan.takes else ()
    inputs = fingerprint(
        plan.inputs, *versions, "redo", *plan.redo, "drops", *plan.drops, "parents", *plan.parents,
        *takes, *ranges,
    )  # fmt: skip
    return replace(plan, inputs=inputs)


def _moved(diff: Diff) -> tuple[int, int]:
    """New objects that look like a gone one: number and bytes. The same checksum, or version, and size."""
    new = diff.reads.filter(pc.is_null(diff.reads["shard"]))
    left = Counter(_contents(diff.gone))
    count = size = 0
    for content in _contents(new):
        if left[content] > 0:
            left[content] -= 1
            count += 1
            size += content[0]
    return count, size


def _contents(table: pa.Table) -> Iterator[tuple[int, str]]:
    columns = (table[name].to_pylist() for name in ("size", "checksum", "token"))
    for size, checksum, token in zip(*columns, strict=True):
        yield size, checksum or token


def _bytes_of(table: pa.Table) -> int:
    return int(pc.sum(table["size"]).as_py() or 0)

"""Cut a source's work into shards.

A shard that exists is rebuilt if anything in it changed; new objects form new shards. New shards end at
places that the names themselves choose, so that a few more names move few cuts.
"""

from __future__ import annotations

import hashlib
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from transforms.model.ids import fingerprint
from transforms.model.objects import ObjectInfo
from transforms.model.shard import Rejection, ShardPlan
from transforms.planning.plan import SourcePlan

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from transforms.planning.diff import Diff

MAX_OBJECTS = 5_000
"""Objects of one shard, however small they are."""


def plan_source(source: str, diff: Diff, recipe: str, shard_bytes: int) -> SourcePlan:
    """The shards of one source's run: rebuilt ones first, then new ones, each in order of name."""
    reads = [
        (ObjectInfo(row["object_name"], row["size"], row["token"]), row["shard"])
        for batch in diff.reads.to_batches()
        for row in batch.to_pylist()
    ]
    rebuilt = _rebuilt(source, reads, diff.gone, recipe)
    new = [info for info, shard in reads if shard is None]
    shards = (*rebuilt, *_new(source, new, recipe, shard_bytes))
    touched = {plan.shard for plan in rebuilt}
    return SourcePlan(
        source=source,
        shards=shards,
        kept_shards=tuple(shard for shard in diff.shards if shard not in touched),
        kept_rejections=tuple(Rejection(**row) for row in _rejections(diff.kept_rejections)),
        listed=diff.listed,
        new=diff.new,
        changed=diff.changed,
        unchanged=diff.unchanged,
        gone=diff.gone.num_rows,
        work_bytes=sum(info.size for info, _ in reads),
    )


def keep_all(source: str, known: pa.Table, rejected: pa.Table, problem: str) -> SourcePlan:
    """The plan that works on nothing and lets nothing go, because of a problem with the listing."""
    return SourcePlan(
        source=source,
        shards=(),
        kept_shards=tuple(sorted(known["shard"].unique().to_pylist())),
        kept_rejections=tuple(Rejection(**row) for row in _rejections(rejected)),
        listed=0,
        new=0,
        changed=0,
        unchanged=len(known["object_name"].unique()),
        gone=0,
        work_bytes=0,
        problem=problem,
    )


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
    return int.from_bytes(hashlib.sha256(_bytes(name)).digest()[:7], "big") / 2**56


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")


def _rebuilt(
    source: str, reads: list[tuple[ObjectInfo, str | None]], gone: pa.Table, recipe: str
) -> list[ShardPlan]:
    infos: dict[str, list[ObjectInfo]] = {}
    drops: dict[str, list[str]] = {}
    for info, shard in reads:
        if shard is not None:
            infos.setdefault(shard, []).append(info)
    for name, shard in zip(gone["object_name"].to_pylist(), gone["shard"].to_pylist(), strict=True):
        drops.setdefault(shard, []).append(name)
    return [
        ShardPlan(
            source=source,
            shard=shard,
            inputs=_inputs(infos.get(shard, ()), drops.get(shard, ()), recipe),
            reads=tuple(infos.get(shard, ())),
            drops=tuple(drops.get(shard, ())),
            previous=True,
        )
        for shard in sorted(infos.keys() | drops.keys())
    ]


def _new(source: str, infos: list[ObjectInfo], recipe: str, shard_bytes: int) -> list[ShardPlan]:
    plans = []
    for start, end in pairwise([0, *shard_ends(infos, shard_bytes)]):
        part = tuple(infos[start:end])
        # The names alone: the same corpus gives the same files, whatever its time stamps are.
        shard = fingerprint(source, *(info.name for info in part))[:16]
        plans.append(ShardPlan(source, shard, _inputs(part, (), recipe), reads=part))
    return plans


def _inputs(reads: Sequence[ObjectInfo], drops: Sequence[str], recipe: str) -> str:
    versions = (part for info in reads for part in (info.name, info.token))
    return fingerprint(recipe, *versions, "drops", *drops)


def _rejections(table: pa.Table) -> list[dict[str, Any]]:
    renamed = table.rename_columns(
        ["source" if name == "source_name" else name for name in table.column_names]
    )
    rows: list[dict[str, Any]] = renamed.to_pylist()
    return rows

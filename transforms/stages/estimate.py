"""How many tokens a plan would embed at most, about: by the byte, as objects of a kind have in the table, or read now.

A kind is the ending of a name: a byte of a PDF is another part of a token than one of Markdown, and nothing else tells
them apart before they are read.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from transforms.extractors.containers import ending
from transforms.model.shard import ShardPlan
from transforms.stages.chunk import chunk_shard
from transforms.stages.embedder import embedder_of
from transforms.stages.extract import extract_shard
from transforms.stages.parent import parent_of
from transforms.stages.read import read_shard
from transforms.table.layout import CHUNKS, DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from transforms.embedders.protocol import TokenCounter
    from transforms.model.objects import ObjectInfo
    from transforms.planning.plan import SourcePlan
    from transforms.stages.job import Job
    from transforms.table.reader import Snapshot

TOKENS_A_BYTE = 0.25
"""Of a kind that nothing is known of: four bytes of plain English are a token of most models."""
SHARDS = 8
"""Shards of the table that are looked at, evenly spread in order of name."""
TEXTS = 200
"""Texts that are counted again where the last snapshot was counted otherwise."""
OBJECTS = 5
"""Objects of a kind that are read, evenly spread in order of name."""
KINDS = 12
"""Kinds of which objects are read, those with the most bytes."""
READ_BYTES = 2 * 2**20
"""A larger object is not read for it."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Tokens, and what they are told from."""

    tokens: int
    read: int = 0
    """Objects that were read to tell the tokens of theirs and of others of their kinds."""
    guessed_bytes: int = 0
    """Bytes of objects of kinds that the table does not have and of which none was read."""
    table_bytes: int = 0
    """Bytes of which the table tells the tokens."""

    def __add__(self, other: Estimate) -> Estimate:
        """Of both together."""
        return Estimate(
            self.tokens + other.tokens,
            self.read + other.read,
            self.guessed_bytes + other.guessed_bytes,
            self.table_bytes + other.table_bytes,
        )


@dataclass(slots=True)
class _Seen:
    """Of some objects of one kind."""

    tokens: float = 0.0
    bytes: float = 0.0
    objects: int = 0


def estimate(plan: SourcePlan, job: Job) -> Estimate:
    """Tokens of all that is read, or chunked or embedded again, as if no vector of it were known.

    What moved is not in it, for it brings its vectors along, but for chunks in which the old name stands. Neither is
    what gets other sparse vectors only. What is known elsewhere in the table is.
    """
    left = plan.work_bytes - plan.moved_bytes - plan.known_bytes
    if left <= 0:
        return Estimate(0)
    reads = [info for shard in plan.shards for info in shard.reads]
    sizes = Counter[str]()
    for info in reads:
        sizes[kind_of_name(info.name)] += info.read_size
    table = _of_table(plan.source, job)
    sample = _of_sample(plan, job, reads, [kind for kind, _ in sizes.most_common() if kind not in table])
    known = table | sample
    tokens = sum(size * _ratio([known[kind]] if kind in known else []) for kind, size in sizes.items())
    # Of what is not read again the plan has no sizes by kind.
    again = max(0, plan.work_bytes - sizes.total())
    tokens += again * _ratio(table.values())
    return Estimate(
        tokens=round(tokens * left / plan.work_bytes),
        read=sum(seen.objects for seen in sample.values()),
        guessed_bytes=sum(size for kind, size in sizes.items() if kind not in known),
        table_bytes=again + sum(size for kind, size in sizes.items() if kind in table),
    )


def kind_of_name(name: str) -> str:
    """The ending of a name, in small letters; "" where it has none."""
    return ending(name).removeprefix(".")


def _ratio(seen: Iterable[_Seen]) -> float:
    """Tokens a byte, of several kinds together."""
    found = list(seen)
    size = sum(one.bytes for one in found)
    return sum(one.tokens for one in found) / size if size else TOKENS_A_BYTE


def _of_table(source: str, job: Job) -> dict[str, _Seen]:
    """What the last snapshot has of a source, by kind: a part of its shards."""
    found: defaultdict[str, _Seen] = defaultdict(_Seen)
    parent = parent_of(job)
    if parent is None:
        return found
    counter = embedder_of(_unpaid(job)).counter
    slug = job.source[source].slug
    shards = parent.shards(DOCUMENTS, slug)
    for shard in shards[:: max(1, len(shards) // SHARDS)]:
        documents = parent.shard_table(DOCUMENTS, slug, shard, ["doc_id", "object_name", "object_size"])
        if (pc.max(documents["object_size"]).as_py() or 0) > 2 * job.shard_bytes:
            # A range of an object: how many of its bytes these rows are from is not told.
            continue
        sizes = dict(
            zip(documents["object_name"].to_pylist(), documents["object_size"].to_pylist(), strict=True)
        )
        for name, size in sizes.items():
            found[kind_of_name(name)].bytes += size
        for kind, tokens in _tokens_by_kind(parent, slug, shard, documents, counter).items():
            found[kind].tokens += tokens
    return {kind: seen for kind, seen in found.items() if seen.bytes}


def _tokens_by_kind(
    parent: Snapshot, slug: str, shard: str, documents: pa.Table, counter: TokenCounter
) -> Mapping[str, float]:
    """Tokens of a shard's chunks, as they are counted today."""
    chunks = parent.shard_table(CHUNKS, slug, shard, ["doc_id", "embed_text", "embed_tokens", "counter"])
    some = chunks.filter(pc.not_equal(chunks["counter"], counter.name)).slice(0, TEXTS)
    scale = 1.0
    if some.num_rows:
        today = sum(counter.count(some["embed_text"].to_pylist()))
        scale = today / max(1, pc.sum(some["embed_tokens"]).as_py())
    return {kind: tokens * scale for kind, tokens in _by_kind(chunks, documents).items()}


def _by_kind(chunks: pa.Table, documents: pa.Table) -> Counter[str]:
    """Tokens of chunks by the kind of the object that each is of."""
    place = pc.index_in(chunks["doc_id"], value_set=documents["doc_id"].combine_chunks())
    names = documents["object_name"].take(place)
    sums = (
        pa.table({"name": names, "tokens": chunks["embed_tokens"]})
        .group_by("name")
        .aggregate([("tokens", "sum")])
    )
    found = Counter[str]()
    for name, tokens in zip(sums["name"].to_pylist(), sums["tokens_sum"].to_pylist(), strict=True):
        found[kind_of_name(name)] += tokens
    return found


def _of_sample(
    plan: SourcePlan, job: Job, reads: Sequence[ObjectInfo], kinds: Sequence[str]
) -> dict[str, _Seen]:
    """What some objects of each kind have, read and cut as a run would; nothing is written, and no server is asked."""
    small: defaultdict[str, list[ObjectInfo]] = defaultdict(list)
    for info in reads:
        if 0 < info.read_size <= READ_BYTES:
            small[kind_of_name(info.name)].append(info)
    found, unpaid = {}, _unpaid(job)
    for kind in [kind for kind in kinds if small[kind]][:KINDS]:
        infos = small[kind][:: max(1, -(-len(small[kind]) // OBJECTS))]
        shard = ShardPlan(plan.source, "", "", reads=tuple(infos))
        cut = chunk_shard(extract_shard(read_shard(shard, unpaid), unpaid), unpaid)
        tokens = float(pc.sum(cut.chunks["embed_tokens"]).as_py() or 0)
        found[kind] = _Seen(tokens, sum(info.read_size for info in infos), len(infos))
    return found


def _unpaid(job: Job) -> Job:
    """The job as if it were the first, with nothing that would ask the model: cuts by meaning become plain ones."""
    sources = []
    for source in job.sources:
        chunk = source.chunk
        if chunk.strategy == "semantic" or chunk.compat == "rag":
            chunk = chunk.model_copy(update={"strategy": "verbatim", "compat": None})
        sources.append(replace(source, chunk=chunk))
    return replace(job, sources=tuple(sources), parent=None, full=True, budget_tokens=None)

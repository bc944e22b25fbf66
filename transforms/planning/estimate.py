"""How many tokens a plan would embed at most, about: from what the last snapshot's texts have by the byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from transforms.embedders.registry import make_embedder
from transforms.storage.registry import open_store
from transforms.table.layout import CHUNKS, DOCUMENTS
from transforms.table.reader import Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transforms.embedders.protocol import TokenCounter
    from transforms.planning.plan import SourcePlan
    from transforms.stages.job import Job

TOKENS_A_BYTE = 0.25
"""Of a source that no snapshot holds: four bytes of plain English are a token of most models."""
SHARDS = 8
"""Shards that are looked at, evenly spread in order of name."""
TEXTS = 200
"""Texts that are counted again where the last snapshot was counted otherwise."""


def tokens_at_most(plan: SourcePlan, job: Job) -> int:
    """Tokens of all that is read, or chunked or embedded again, as if no vector of it were known.

    What moved is not in it, for it brings its vectors along, but for chunks in which the old name stands. Neither is
    what gets other sparse vectors only. What is known elsewhere in the table is.
    """
    return round((plan.work_bytes - plan.moved_bytes - plan.known_bytes) * _tokens_a_byte(plan.source, job))


def _tokens_a_byte(source: str, job: Job) -> float:
    if job.parent is None:
        return TOKENS_A_BYTE
    snapshot = Snapshot.open(open_store(job.table), job.parent)
    counter = make_embedder(job.embedder).counter
    found = np.array([[0.0, 0.0], *_sampled(snapshot, source, job, counter)]).sum(axis=0)
    tokens, size = found.tolist()
    return float(tokens / size) if tokens and size else TOKENS_A_BYTE


def _sampled(
    snapshot: Snapshot, source: str, job: Job, counter: TokenCounter
) -> Iterator[tuple[float, float]]:
    """Tokens embedded and bytes of objects, a shard."""
    slug = job.source[source].slug
    shards = snapshot.shards(DOCUMENTS, slug)
    for shard in shards[:: max(1, len(shards) // SHARDS)]:
        documents = snapshot.shard_table(DOCUMENTS, slug, shard, ["object_name", "object_size"])
        if (pc.max(documents["object_size"]).as_py() or 0) > 2 * job.shard_bytes:
            # A range of an object: how many of its bytes these rows are from is not told.
            continue
        objects = documents.group_by("object_name").aggregate([("object_size", "max")])
        chunks = snapshot.shard_table(CHUNKS, slug, shard, ["embed_text", "embed_tokens", "counter"])
        tokens = float(pc.sum(chunks["embed_tokens"]).as_py() or 0)
        some = chunks.filter(pc.not_equal(chunks["counter"], counter.name)).slice(0, TEXTS)
        if some.num_rows:
            today = sum(counter.count(some["embed_text"].to_pylist()))
            tokens *= today / max(1, pc.sum(some["embed_tokens"]).as_py())
        yield tokens, float(pc.sum(objects["object_size_max"]).as_py() or 0)

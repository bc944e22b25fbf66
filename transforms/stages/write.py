"""Write a shard's rows: one chunks file, one documents file, then the done record."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from transforms.model.shard import ShardReceipt
from transforms.stages.done import keep_receipt
from transforms.stages.embedder import embedder_of
from transforms.stages.merge import merge_shard
from transforms.storage.registry import open_store
from transforms.table.layout import CHUNKS, DOCUMENTS, shard_path
from transforms.table.lease import require_claim
from transforms.table.vectors import check_vectors
from transforms.table.writer import write_table

if TYPE_CHECKING:
    from transforms.stages.job import Job
    from transforms.stages.work import EmbeddedShard


def write_shard(shard: EmbeddedShard, job: Job) -> ShardReceipt:
    """Publishable files under names that follow from the plan; written again, they are the same bytes.

    A shard without rows writes no file, only its receipt; one that was stopped says so, and keeps no receipt.

    Raises:
        GuardError: a vector is none, or another run has taken this one's place meanwhile.
    """
    start = time.monotonic()
    source = job.source[shard.plan.source]
    if shard.stopped:
        plan = shard.plan
        return ShardReceipt(
            source.name,
            plan.shard,
            plan.inputs,
            embedded=shard.embedded,
            stopped=True,
            notices=shard.notices,
        )
    store = open_store(job.table)
    merged = merge_shard(shard, job.snapshot, full=job.full)
    check_vectors(merged.chunks, embedder_of(job).dimension)
    # A run that was thought dead may wake up when its snapshot is published: that never changes.
    require_claim(store, job.snapshot, job.run_id)
    files = []
    for kind, rows in ((CHUNKS, merged.chunks), (DOCUMENTS, merged.documents)):
        if rows.num_rows:
            path = shard_path(job.snapshot, kind, source.slug, shard.plan.shard)
            files.append(write_table(store, path, rows, source.name, job.recipe))
    receipt = ShardReceipt(
        source=source.name,
        shard=shard.plan.shard,
        inputs=shard.plan.inputs,
        documents=merged.documents.num_rows,
        chunks=merged.chunks.num_rows,
        embedded=shard.embedded,
        repeated=shard.repeated,
        embedded_tokens=shard.embedded_tokens,
        files=tuple(files),
        rejected=shard.rejections,
        deleted=merged.deleted,
        gone=merged.gone,
        work=shard.work.after("write", time.monotonic() - start),
        empty=shard.empty,
        notices=shard.notices,
        differs=merged.differs,
    )
    keep_receipt(receipt, job)
    return receipt

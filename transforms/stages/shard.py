"""One shard from its plan to its receipt: all stages in their order, in this process.

A graph of Beam's calls the same functions, one a transform; this is the way where no runner stands between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.stages.chunk import chunk_shard
from transforms.stages.done import find_receipt
from transforms.stages.embed import embed_shard
from transforms.stages.extract import extract_shard
from transforms.stages.read import read_shard
from transforms.stages.write import write_shard

if TYPE_CHECKING:
    from transforms.model.shard import ShardPlan, ShardReceipt
    from transforms.stages.job import Job


def finish_shard(plan: ShardPlan, job: Job) -> ShardReceipt:
    """The receipt of the shard: the one that an interrupted run has left, else that of the work done now.

    Raises:
        GuardError, ParquetryError: as the stages do; nothing of the shard is published.
    """
    receipt = find_receipt(plan, job)
    if receipt is not None:
        return receipt
    extracted = extract_shard(read_shard(plan, job), job)
    return write_shard(embed_shard(chunk_shard(extracted, job), job), job)

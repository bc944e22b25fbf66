"""The job without Beam: the functions of the stages in their order, in one process.

What Beam adds is the way from one to the next; a run costs milliseconds here, so that tests can make thousands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.model.errors import StorageError
from transforms.planning.known import known_batches, rejected_table
from transforms.planning.listing import listing_batches
from transforms.planning.source import keep_source, make_plan
from transforms.stages.chunk import chunk_shard
from transforms.stages.commit import commit_snapshot
from transforms.stages.done import find_receipt
from transforms.stages.embed import embed_shard
from transforms.stages.extract import extract_shard
from transforms.stages.guards import check_plans
from transforms.stages.outcome import read_outcome
from transforms.stages.plans import keep_plan
from transforms.stages.read import read_shard
from transforms.stages.write import write_shard

if TYPE_CHECKING:
    from pipeline.config import JobConfig
    from transforms.model.shard import ShardPlan, ShardReceipt
    from transforms.planning.plan import SourcePlan
    from transforms.stages.job import Job
    from transforms.stages.outcome import Outcome


def work(job: Job, config: JobConfig, beam_args: list[str]) -> Outcome:
    """Takes the place of ``pipeline.run._run``."""
    plans = [_plan(job, source.name) for source in job.sources]
    check_plans(plans, job)
    commit_snapshot(job, plans, [_shard(shard, job) for plan in plans for shard in plan.shards])
    return read_outcome(job)


def _plan(job: Job, source: str) -> SourcePlan:
    documents, rejected = known_batches(job, source), rejected_table(job, source)
    try:
        listing = [batch for batch, _ in listing_batches(job, source)]
    except StorageError as error:
        plan = keep_source(source, documents, rejected, str(error))
    else:
        plan = make_plan(job, source, listing, documents, rejected)
    keep_plan(plan, job)
    return plan


def _shard(plan: ShardPlan, job: Job) -> ShardReceipt:
    receipt = find_receipt(plan, job)
    if receipt is not None:
        return receipt
    extracted = extract_shard(read_shard(plan, job), job)
    return write_shard(embed_shard(chunk_shard(extracted, job), job), job)

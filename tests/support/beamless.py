"""The job without Beam: the functions of the stages in their order, in one process.

What Beam adds is the way from one to the next; a run costs milliseconds here, so that tests can make thousands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.planning.source import plan_alone
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
    from collections.abc import Iterator

    from pipeline.config import JobConfig
    from transforms.model.shard import ShardPlan, ShardReceipt
    from transforms.planning.plan import SourcePlan
    from transforms.stages.job import Job
    from transforms.stages.outcome import Outcome


def work(job: Job, config: JobConfig, beam_args: list[str]) -> Outcome:
    """Takes the place of ``pipeline.run._run``."""
    plans = [_plan(job, source.name) for source in job.sources]
    check_plans(plans, job)
    commit_snapshot(
        job, plans, [receipt for plan in plans for shard in plan.shards for receipt in _shard(shard, job)]
    )
    return read_outcome(job)


def _plan(job: Job, source: str) -> SourcePlan:
    plan = plan_alone(job, source)
    keep_plan(plan, job)
    return plan


def _shard(plan: ShardPlan, job: Job) -> Iterator[ShardReceipt]:
    receipt = find_receipt(plan, job)
    if receipt is not None:
        yield receipt
        return
    embedded = embed_shard(chunk_shard(extract_shard(read_shard(plan, job), job), job), job)
    if embedded is not None:
        yield write_shard(embedded, job)

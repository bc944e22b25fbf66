"""The job in this process and this thread, however many processes a configuration asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.run import plan_here
from transforms.stages.commit import commit_snapshot
from transforms.stages.guards import check_plans
from transforms.stages.outcome import read_outcome
from transforms.stages.shard import finish_shard

if TYPE_CHECKING:
    from pipeline.config import JobConfig
    from transforms.stages.job import Job
    from transforms.stages.outcome import Outcome


def work(job: Job, config: JobConfig, beam_args: list[str]) -> Outcome:
    """Takes the place of ``pipeline.run._run``."""
    plans = plan_here(job)
    check_plans(plans, job)
    commit_snapshot(job, plans, [finish_shard(shard, job) for plan in plans for shard in plan.shards])
    return read_outcome(job)

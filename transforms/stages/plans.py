"""Plans on storage: what a run set out to do, against which its progress is measured."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from transforms.planning.plan import SourcePlan
from transforms.storage.registry import open_store
from transforms.table.layout import plan_path

if TYPE_CHECKING:
    from transforms.stages.job import Job

_PLAN = TypeAdapter(SourcePlan)


def keep_plan(plan: SourcePlan, job: Job) -> None:
    """Write the plan of one source beside the snapshot that it is for."""
    path = plan_path(job.snapshot, job.source[plan.source].slug)
    # Whose it is, first: an interrupted run may have left one for the same snapshot.
    head = b'{"run_id":' + json.dumps(job.run_id).encode() + b","
    open_store(job.table).write(path, head + _PLAN.dump_json(plan).removeprefix(b"{"))

"""Done records: how a shard that is finished says so, to the commit, to progress and to a later run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from transforms.model.errors import NotFoundError
from transforms.model.shard import ShardReceipt
from transforms.storage.registry import open_store
from transforms.table.layout import done_path

if TYPE_CHECKING:
    from transforms.model.shard import ShardPlan
    from transforms.stages.job import Job

_RECEIPT = TypeAdapter(ShardReceipt)


def find_receipt(plan: ShardPlan, job: Job) -> ShardReceipt | None:
    """The receipt of a shard that an interrupted run finished from these very inputs, if any."""
    try:
        data = open_store(job.table).read(done_path(job.snapshot, job.source[plan.source].slug, plan.shard))
    except NotFoundError:
        return None
    receipt = _RECEIPT.validate_json(data)
    return receipt if receipt.inputs == plan.inputs else None


def keep_receipt(receipt: ShardReceipt, job: Job) -> None:
    """Say that the shard is done. Written after its files, which it names."""
    path = done_path(job.snapshot, job.source[receipt.source].slug, receipt.shard)
    open_store(job.table).write(path, _RECEIPT.dump_json(receipt))

"""Done records: how a shard that is finished says so, to the commit, to progress and to a later run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from transforms.model.errors import NotFoundError
from transforms.model.shard import ShardReceipt
from transforms.storage.registry import open_store
from transforms.table.layout import CHUNKS, DOCUMENTS, done_path, kind_of, shard_of
from transforms.table.verify import is_whole

if TYPE_CHECKING:
    from transforms.model.shard import ShardPlan
    from transforms.stages.job import Job

_RECEIPT = TypeAdapter(ShardReceipt)


def find_receipt(plan: ShardPlan, job: Job) -> ShardReceipt | None:
    """The receipt of a shard that an interrupted run finished from these very inputs, if any.

    One that is damaged, or whose files are not the very bytes that it names, is none: the shard is done again.
    """
    store = open_store(job.table)
    try:
        data = store.read(done_path(job.snapshot, job.source[plan.source].slug, plan.shard))
        receipt = _RECEIPT.validate_json(data)
    except (NotFoundError, ValidationError):
        return None
    is_ours = receipt.inputs == plan.inputs and _counts_its_files(receipt)
    return receipt if is_ours and is_whole(store, job.snapshot, receipt.files) else None


def _counts_its_files(receipt: ShardReceipt) -> bool:
    """Whether the files are those of the shard, with as many rows as were counted."""
    rows = {kind_of(file.path): file.rows for file in receipt.files}
    return all(shard_of(file.path) == receipt.shard for file in receipt.files) and rows == {
        kind: count for kind, count in ((CHUNKS, receipt.chunks), (DOCUMENTS, receipt.documents)) if count
    }


def keep_receipt(receipt: ShardReceipt, job: Job) -> None:
    """Say that the shard is done. Written after its files, which it names."""
    path = done_path(job.snapshot, job.source[receipt.source].slug, receipt.shard)
    open_store(job.table).write(path, _RECEIPT.dump_json(receipt))

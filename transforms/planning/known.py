"""What the last snapshot knows of a source, in the columns that planning compares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from transforms.planning.diff import KNOWN
from transforms.storage.registry import open_store
from transforms.table.ipc import to_ipc
from transforms.table.layout import DOCUMENTS
from transforms.table.reader import Snapshot
from transforms.table.schema import REJECTED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transforms.stages.job import Job


def known_batches(job: Job, source: str) -> Iterator[bytes]:
    """One Arrow IPC stream a shard of the source, of schema ``KNOWN``; nothing in a first run."""
    if job.parent is None:
        return
    snapshot = Snapshot.open(open_store(job.table), job.parent)
    columns = [name for name in KNOWN.names if name != "shard"]
    slug = job.source[source].slug
    for shard in snapshot.shards(DOCUMENTS, slug):
        table = snapshot.shard_table(DOCUMENTS, slug, shard, columns)
        names = pa.repeat(pa.scalar(shard), table.num_rows)
        yield to_ipc(table.append_column("shard", names).select(KNOWN.names).cast(KNOWN))


def rejected_table(job: Job, source: str) -> pa.Table:
    """The source's rows in the rejected table of the last snapshot."""
    if job.parent is None:
        return REJECTED.empty_table()
    rejected = Snapshot.open(open_store(job.table), job.parent).rejected()
    return rejected.filter(pc.equal(rejected["source_name"], source))

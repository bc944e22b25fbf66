"""From a source's columns to its plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.model.ids import fingerprint
from transforms.planning.diff import KNOWN, LISTING, compare
from transforms.planning.shards import keep_all, plan_source
from transforms.table.ipc import from_ipc

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from transforms.planning.plan import SourcePlan
    from transforms.stages.job import Job


def make_plan(
    job: Job, source: str, listing: Iterable[bytes], documents: Iterable[bytes], rejected: pa.Table
) -> SourcePlan:
    """The plan of one source from the Arrow IPC streams of its listing and its documents."""
    spec = job.source[source]
    diff = compare(from_ipc(listing, LISTING), from_ipc(documents, KNOWN), rejected, spec.recipe)
    # A shard done for another parent carried other rows over.
    inputs = fingerprint(spec.recipe.fingerprint, str(job.parent))
    return plan_source(source, diff, inputs, job.shard_bytes)


def keep_source(source: str, documents: Iterable[bytes], rejected: pa.Table, problem: str) -> SourcePlan:
    """The plan of a source that could not be listed whole: it keeps its rows, whatever else changes."""
    return keep_all(source, from_ipc(documents, KNOWN), rejected, problem)

"""What stops a run before it works: more deletions than anyone would mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.model.errors import GuardError
from transforms.storage.registry import open_store
from transforms.table.reader import Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pipeline.config.models import Limits
    from transforms.planning.plan import SourcePlan
    from transforms.stages.job import Job


def check_deletions(plans: Sequence[SourcePlan], job: Job, limits: Limits, *, allow: bool) -> None:
    """Refuse a run that would delete more of a source than the configuration allows.

    Raises:
        GuardError: naming every such source, the numbers, and what to do.
    """
    faults = [] if allow else [*_shrunken(plans, limits), *_removed(job, limits)]
    if faults:
        remedy = "If this is meant, run again with --allow-deletes."
        raise GuardError("\n".join(["Nothing was published:", *faults, remedy]))


def _shrunken(plans: Sequence[SourcePlan], limits: Limits) -> Iterator[str]:
    for plan in plans:
        allowed = max(limits.always_allowed_deletes, limits.max_deleted_share * plan.known)
        if plan.gone > allowed:
            yield (
                f"  source `{plan.source}`: {plan.gone:,} of {plan.known:,} objects are gone, more than "
                f"limits.max_deleted_share = {limits.max_deleted_share} allows"
            )


def _removed(job: Job, limits: Limits) -> Iterator[str]:
    if job.parent is None:
        return
    sources = Snapshot.open(open_store(job.table), job.parent).manifest.sources
    for name, source in sources.items():
        documents = source.counts["documents"]
        if name not in job.source and documents > limits.always_allowed_deletes:
            yield f"  source `{name}` is not configured any more; its {documents:,} documents would go"

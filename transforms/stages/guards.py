"""What stops a run before it works: a guard refuses in a sentence, and nothing is spent or published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.model.errors import GuardError
from transforms.stages.canary import check_drift
from transforms.storage.registry import open_store
from transforms.table.reader import Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from transforms.planning.plan import SourcePlan
    from transforms.stages.job import Job

_DELETES = "If this is meant, run again with --allow-deletes."


def check_plans(plans: Sequence[SourcePlan], job: Job) -> None:
    """Pass plans that may be worked on.

    Raises:
        GuardError: the table is another job's, a source would lose more than is allowed, no source could
            be listed, vectors of two models would stand side by side, or a server's model has changed.
    """
    parent = None if job.parent is None else Snapshot.open(open_store(job.table), job.parent)
    if parent is not None:
        _check_same_table(parent, job)
        _check_deletions(plans, parent, job)
        _check_selection(parent, job)
    _check_listings(plans, parent, job)
    if any(plan.work_bytes for plan in plans):
        check_drift(job)


def _check_same_table(parent: Snapshot, job: Job) -> None:
    """Another table in this place shares no source with the configuration."""
    theirs, mine = parent.manifest.sources, job.source
    if theirs and not theirs.keys() & mine.keys() and not job.allow_deletes:
        raise GuardError(
            f"Nothing was published: {job.table} holds another table. Its sources are {_names(theirs)}, and "
            f"this configuration has {_names(mine)}. Name another place in `table`. {_DELETES}"
        )


def _names(sources: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sources)


def _check_deletions(plans: Sequence[SourcePlan], parent: Snapshot, job: Job) -> None:
    faults = [] if job.allow_deletes else [*_shrunken(plans, job), *_removed(parent, job)]
    if faults:
        raise GuardError("\n".join(["Nothing was published:", *faults, _DELETES]))


def _shrunken(plans: Sequence[SourcePlan], job: Job) -> Iterator[str]:
    for plan in plans:
        allowed = max(job.always_allowed_deletes, job.max_deleted_share * plan.known)
        if plan.gone > allowed:
            yield (
                f"  source `{plan.source}`: {plan.gone:,} of {plan.known:,} objects are gone, more than "
                f"limits.max_deleted_share = {job.max_deleted_share} allows"
            )


def _removed(parent: Snapshot, job: Job) -> Iterator[str]:
    for name, source in parent.manifest.sources.items():
        documents = source.counts["documents"]
        if name not in job.source and documents > job.always_allowed_deletes:
            yield f"  source `{name}` is not configured any more; its {documents:,} documents would go"


def _check_selection(parent: Snapshot, job: Job) -> None:
    """A run about a part of the table leaves the rest as it is: then both must be of one model."""
    for name in () if job.selection.is_everything else parent.manifest.sources:
        if name in job.source and _has_other_vectors(parent, name, job):
            raise GuardError(
                f"Nothing was published: source `{name}` has vectors of another model, which would stand beside "
                "those of today. Run without --source, --prefix, --since and --recipe; --max-tokens bounds what "
                "a run spends."
            )


def _check_listings(plans: Sequence[SourcePlan], parent: Snapshot | None, job: Job) -> None:
    """Sources that could not be listed keep their rows: there must be others, and one model for all."""
    problems = {plan.source: plan.problem for plan in plans if plan.problem}
    if problems and len(problems) == len(plans):
        lines = [f"  source `{name}`: {problem}" for name, problem in problems.items()]
        raise GuardError("\n".join(["Nothing was published: no source could be listed.", *lines]))
    for name in problems if parent is not None else ():
        if parent is not None and _has_other_vectors(parent, name, job):
            raise GuardError(
                f"Nothing was published: source `{name}` could not be listed ({problems[name]}), and its rows "
                "would keep vectors of another model beside the new ones. Run again when it can be listed."
            )


def _has_other_vectors(parent: Snapshot, source: str, job: Job) -> bool:
    today = job.source[source].recipe.embed
    batches = parent.documents(["embed_recipe"], source=source)
    return any(set(batch["embed_recipe"].to_pylist()) - {today} for batch in batches)

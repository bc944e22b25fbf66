"""What stops a run before it works: a guard refuses in a sentence, and nothing is spent or published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.model.errors import GuardError
from transforms.stages.canary import check_drift
from transforms.stages.embedder import embedder_of
from transforms.storage.registry import open_store
from transforms.table.reader import Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from transforms.planning.plan import SourcePlan
    from transforms.stages.job import Job

_DELETES = "If this is meant, run again with --allow-deletes."
_KEPT = "What was read and embedded is kept for it."


def check_plans(plans: Sequence[SourcePlan], job: Job) -> None:
    """Pass plans that may be worked on.

    Raises:
        GuardError: the table is another job's, a source would lose more than is allowed, no source could
            be listed, vectors of two models would stand side by side, all vectors would get another width, or
            a server's model has changed.
    """
    parent = None if job.parent is None else Snapshot.open(open_store(job.table), job.parent)
    if parent is not None:
        _check_same_table(parent, job)
        _check_deletions(plans, parent, job)
        _check_selection(parent, job)
    _check_listings(plans, parent, job)
    if parent is not None:
        _check_width(parent, job)
    if any(plan.work_bytes for plan in plans):
        check_drift(job)


def check_gone(
    parent: Snapshot, gone: Mapping[str, int], counts: Mapping[str, Mapping[str, int]], job: Job
) -> None:
    """Pass the documents that a finished run would let go, which no plan knows: an object may hold fewer than before.

    Raises:
        GuardError: a source would lose more than is allowed.
    """
    faults = []
    for name, known in _known_documents(parent).items():
        is_lost = known > 0 and name in job.source and counts[name]["documents"] == 0
        if is_lost or _too_many(gone.get(name, 0), known, job):
            faults.append(_fault(name, gone.get(name, 0), known, "documents", job))
    if faults and not job.allow_deletes:
        raise GuardError("\n".join(["Nothing was published:", *faults, f"{_DELETES} {_KEPT}"]))


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
        # Under other names they are not lost.
        is_lost = 0 < plan.known <= plan.gone - plan.moved
        if is_lost or _too_many(plan.gone, plan.known, job):
            yield _fault(plan.source, plan.gone, plan.known, "objects", job)


def _too_many(gone: int, known: int, job: Job) -> bool:
    return gone > max(job.always_allowed_deletes, job.max_deleted_share * known)


def _fault(source: str, gone: int, known: int, what: str, job: Job) -> str:
    if gone >= known:
        return f"  source `{source}`: all of its {known:,} {what} are gone"
    return (
        f"  source `{source}`: {gone:,} of {known:,} {what} are gone, more than "
        f"limits.max_deleted_share = {job.max_deleted_share} allows"
    )


def _removed(parent: Snapshot, job: Job) -> Iterator[str]:
    for name, documents in _known_documents(parent).items():
        if name not in job.source and documents:
            yield f"  source `{name}` is not configured any more; its {documents:,} documents would go"


def _known_documents(parent: Snapshot) -> dict[str, int]:
    return {name: source.counts["documents"] for name, source in parent.manifest.sources.items()}


def _check_selection(parent: Snapshot, job: Job) -> None:
    """A run about a part of the table leaves the rest as it is: then both must be of one model."""
    for name in () if job.selection.is_everything else parent.manifest.sources:
        other = _other_vectors(parent, name, job) if name in job.source else ""
        if other:
            raise GuardError(
                f"Nothing was published: source `{name}` has {other}, which would stand beside "
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
        other = "" if parent is None else _other_vectors(parent, name, job)
        if other:
            raise GuardError(
                f"Nothing was published: source `{name}` could not be listed ({problems[name]}), and its rows "
                f"would keep {other} beside the new ones. Run again when it can be listed."
            )


def _check_width(parent: Snapshot, job: Job) -> None:
    """Vectors of another width replace all that there are, and no store takes them beside the old ones."""
    if job.full or job.allow_deletes or parent.manifest.recipe.get("embedder") == job.recipe["embedder"]:
        return
    batches = (batch["embed_dim"].drop_null() for batch in parent.chunks(["embed_dim"]))
    known = next((widths[0].as_py() for widths in batches if len(widths)), None)
    embedder = embedder_of(job)
    if known is not None and known != embedder.dimension:
        raise GuardError(
            f"Nothing was published: {job.table} has vectors of {known:,} numbers, and {embedder.name} gives "
            f"{embedder.dimension:,}. All {parent.manifest.counts['chunks']:,} chunks would be embedded again, and "
            "stores that hold the old vectors need a new collection. If this is meant, run again with "
            "--allow-deletes, or make everything anew with --full."
        )


def _other_vectors(parent: Snapshot, source: str, job: Job) -> str:
    """What vectors a source has that must not stand beside those of today, if any; rows may have no sparse ones."""
    recipe = job.source[source].recipe
    dense: set[str] = set()
    sparse: set[str | None] = set()
    for batch in parent.documents(["embed_recipe", "sparse_recipe"], source=source):
        dense |= set(batch["embed_recipe"].to_pylist())
        sparse |= set(batch["sparse_recipe"].to_pylist())
    if dense - {recipe.embed}:
        return "vectors of another model"
    return "other sparse vectors" if recipe.sparse and sparse - {recipe.sparse, None} else ""

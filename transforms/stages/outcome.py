"""How a run ended: kept beside the table, so that whoever started it can read it, wherever it ran."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pydantic import TypeAdapter

from transforms.storage.registry import open_store
from transforms.table.layout import RUNS, run_path

if TYPE_CHECKING:
    from transforms.stages.job import Job
    from transforms.storage.protocol import Store


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one run. ``counts`` and ``sources`` are those of the manifest."""

    run_id: str
    status: Literal["published", "unchanged", "too_many_rejected", "refused", "handed_over"]
    table: str
    snapshot: int | None
    """The newest snapshot after the run; None where there is none."""
    counts: dict[str, int] = field(default_factory=dict)
    sources: dict[str, dict[str, int]] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    """Rejected documents by reason."""
    examples: dict[str, str] = field(default_factory=dict)
    """For each reason the first document and what was said of it."""
    rejected_list: str = ""
    """The Parquet file that lists all of them; "" where there is none."""
    embedded_tokens: int = 0
    work: dict[str, int] = field(default_factory=dict)
    """Objects opened, documents extracted and chunked."""
    incomplete: dict[str, str] = field(default_factory=dict)
    """Sources that could not be listed whole, and why: they keep the rows they had."""
    notices: tuple[str, ...] = ()
    """What the embedder noticed, and sources without objects: sentences for a person."""
    refusal: str = ""
    """What the guard said that refused."""


_OUTCOME = TypeAdapter(Outcome)
KEPT = 100
"""Runs of which the end stays known."""


def refused(job: Job, sentence: str) -> Outcome:
    """The end of a run that a guard refused."""
    return Outcome(job.run_id, "refused", job.table, job.parent, refusal=sentence)


def handed_over(job: Job) -> Outcome:
    """What is known of a run that somebody else is to start: it has not begun."""
    return Outcome(job.run_id, "handed_over", job.table, job.parent)


def keep_outcome(outcome: Outcome, job: Job) -> None:
    """Write the record of this run."""
    open_store(job.table).write(run_path(job.run_id), _OUTCOME.dump_json(outcome, indent=2))


def forget_old_outcomes(store: Store) -> None:
    """Keep what the newest runs say of their end, and no more of them from year to year."""
    names = [info.name for page in store.list(RUNS) for info in page]
    runs = sorted({_run_of(name) for name in names})
    old = set(runs[:-KEPT])
    store.delete([name for name in names if _run_of(name) in old])


def _run_of(name: str) -> str:
    """The run of a record; it begins with the time at which the run began."""
    return name.removeprefix(RUNS).partition(".")[0]


def newest_outcome(store: Store) -> Outcome | None:
    """How the last run ended that came to its end, by the time of its beginning; None where there was none."""
    names = [info.name for page in store.list(RUNS) for info in page] if store.exists_root() else []
    records = [name for name in names if name.endswith(".json")]
    return _OUTCOME.validate_json(store.read(max(records))) if records else None


def read_outcome(job: Job) -> Outcome:
    """The record of this run.

    Raises:
        NotFoundError: the run has not come to its end.
    """
    return _OUTCOME.validate_json(open_store(job.table).read(run_path(job.run_id)))

"""What a run is about, on storage: enough for anyone to follow it, wherever it was started."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from transforms.model.errors import NotFoundError
from transforms.storage.registry import open_store
from transforms.table.layout import about_path

if TYPE_CHECKING:
    from transforms.stages.job import Job
    from transforms.storage.protocol import Store


@dataclass(frozen=True, slots=True)
class About:
    """One run. No secret is in it."""

    run_id: str
    snapshot: int
    slugs: tuple[str, ...]
    """Of its sources."""
    price: float | None = None
    """US dollars a million tokens, where they are paid for and the price is known."""


_ABOUT = TypeAdapter(About)


def about(job: Job, price: float | None = None) -> About:
    """What there is to know of a job before it begins."""
    return About(job.run_id, job.snapshot, tuple(source.slug for source in job.sources), price)


def keep_about(one: About, table: str) -> None:
    """Write it beside the snapshot that the run builds."""
    open_store(table).write(about_path(one.snapshot), _ABOUT.dump_json(one))


def read_about(store: Store, snapshot: int) -> About | None:
    """What the run is about that builds the snapshot; None where none says so."""
    try:
        return _ABOUT.validate_json(store.read(about_path(snapshot)))
    except (NotFoundError, ValidationError):
        return None

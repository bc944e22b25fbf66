"""What was noticed before the work began, kept for the run's end, on whichever machine that is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from transforms.model.errors import NotFoundError
from transforms.storage.registry import open_store
from transforms.table.layout import noted_path

if TYPE_CHECKING:
    from transforms.stages.job import Job


def note(job: Job, sentence: str) -> None:
    """Keep a sentence for a person; a call that is repeated does no harm."""
    open_store(job.table).write(noted_path(job.snapshot, job.run_id), json.dumps([sentence]).encode())


def noted(job: Job) -> list[str]:
    """The sentences that this run has kept."""
    try:
        found: list[str] = json.loads(open_store(job.table).read(noted_path(job.snapshot, job.run_id)))
    except NotFoundError:
        return []
    return found

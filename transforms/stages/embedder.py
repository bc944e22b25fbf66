"""The embedder of a job, as a worker process may use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.embedders.budget import Budget
from transforms.embedders.registry import make_embedder
from transforms.embedders.share import Share
from transforms.table.layout import budget_path

if TYPE_CHECKING:
    from transforms.embedders.protocol import Embedder
    from transforms.embedders.settings import EmbedderSettings
    from transforms.stages.job import Job


def embedder_of(job: Job, settings: EmbedderSettings | None = None) -> Embedder:
    """The job's embedder in this process, or another of its settings, with its part of the quotas and the budget."""
    budget = None
    if job.budget_tokens is not None:
        budget = Budget(job.table, budget_path(job.snapshot, job.run_id), job.budget_tokens)
    return make_embedder(settings or job.embedder, Share(job.workers, budget))

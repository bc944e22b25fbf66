"""What one process may take of what the whole job has: cores, quotas and the budget."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transforms.embedders.budget import Budget


@dataclass(frozen=True, slots=True)
class Share:
    """The part of one among ``workers`` processes."""

    workers: int = 1
    budget: Budget | None = None

    def of(self, quota: float | None) -> float | None:
        """This process's part of a quota of the job; None where there is none."""
        return None if quota is None else quota / self.workers

    @property
    def cores(self) -> int:
        """Cores for this process, at least one."""
        return max(1, usable_cores() // self.workers)


ALONE = Share()
"""A process that shares nothing: a search, or a run in one process without a budget."""


def usable_cores() -> int:
    """Cores that this process may run on; a container often has fewer than its machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

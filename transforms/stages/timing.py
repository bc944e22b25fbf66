"""How long the stages of a shard take: said in its receipt, so that reports know it on every runner."""

from __future__ import annotations

import functools
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from transforms.model.shard import Work
    from transforms.stages.job import Job


class _Worked(Protocol):
    @property
    def work(self) -> Work: ...


_Before = TypeVar("_Before")
_After = TypeVar("_After", bound=_Worked)


def timed(stage: str) -> Callable[[Callable[[_Before, Job], _After]], Callable[[_Before, Job], _After]]:
    """A stage that adds to the work of what it makes how long it took."""

    def decorated(function: Callable[[_Before, Job], _After]) -> Callable[[_Before, Job], _After]:
        @functools.wraps(function)
        def timed_stage(shard: _Before, job: Job) -> _After:
            start = time.monotonic()
            made = function(shard, job)
            return replace(made, work=made.work.after(stage, time.monotonic() - start))  # type: ignore[type-var]

        return timed_stage

    return decorated

"""Show that a run is alive and how far it is: a line that moves on a terminal, a line now and then elsewhere.

All of it goes to standard error, so that what a run prints at its end stands alone on standard output.
"""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from transforms.stages.progress import Progress, Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from transforms.stages.job import Job

EVERY = 30.0
"""Seconds between lines where no terminal is."""
_LOOKS = 1.0
"""Seconds between looks on a terminal, at least; a store that is slow to answer is asked less often."""
_PATIENCE = 20
"""How many times as long as a look took, until the next one."""


class Display:
    """What is known of the run so far; ``follow`` is given the job as soon as there is one."""

    def __init__(self, every: float) -> None:
        self._every = every
        self._watch: Watch | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._repeat, name="progress", daemon=True)
        self._start = time.monotonic()

    def follow(self, job: Job) -> None:
        """Watch this job from now on."""
        self._watch = Watch(job)

    def begin(self) -> None:
        """Show the first words."""
        self._thread.start()

    def end(self) -> None:
        """Show nothing more."""
        self._ended.set()
        # A store that does not answer holds nobody up: the thread dies with the process.
        self._thread.join(timeout=2)

    def seconds(self) -> float:
        """Since the display was made."""
        return time.monotonic() - self._start

    def show(self, progress: Progress | None) -> None:
        """Show how far the run is; None before its first look."""
        raise NotImplementedError

    def look(self) -> None:
        """Look and show, once."""
        self.show(None if self._watch is None else self._watch.look())

    def _repeat(self) -> None:
        wait = self._every
        while not self._ended.wait(wait):
            began = time.monotonic()
            self.look()
            wait = max(self._every, _PATIENCE * (time.monotonic() - began))


class Lines(Display):
    """A plain line every now and then, for logs."""

    def show(self, progress: Progress | None) -> None:
        print(f"parquetry: {_span(self.seconds())}: {said(progress)}", file=sys.stderr, flush=True)


class Live(Display):
    """A line that moves, with a bar once it is known how much there is to do; it is gone at the end."""

    def __init__(self, console: Console, every: float) -> None:
        super().__init__(every)
        self._bar = Bar(
            SpinnerColumn(),
            BarColumn(bar_width=24),
            TextColumn("{task.description}", markup=False),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._task = self._bar.add_task(said(None), total=None)

    def begin(self) -> None:
        self._bar.start()
        super().begin()

    def end(self) -> None:
        super().end()
        self.look()
        self._bar.refresh()
        self._bar.stop()

    def show(self, progress: Progress | None) -> None:
        if progress is not None and progress.planned:
            self._bar.update(self._task, total=progress.planned, completed=progress.done)
        self._bar.update(self._task, description=said(progress))


def said(progress: Progress | None) -> str:
    """How far a run is, in words."""
    if progress is None:
        return "starting"
    if progress.planned is None:
        return "listing and comparing the sources"
    if progress.done == progress.planned:
        return f"{_counts(progress)}; publishing" if progress.planned else "nothing to read; publishing"
    return _counts(progress)


def _counts(progress: Progress) -> str:
    work = f"{progress.done:,} of {_many(progress.planned or 0, 'shard')} ({_many(progress.objects, 'object')})"
    counts = [_many(progress.documents, "document"), _many(progress.chunks, "chunk")]
    counts += [f"{progress.rejected:,} rejected"] if progress.rejected else []
    return f"{work} done: {', '.join(counts)}"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"


@contextmanager
def progress_shown(*, quiet: bool) -> Iterator[Callable[[Job], None]]:
    """Show progress while the context is open; what it gives is to be called with the job.

    Args:
        quiet: show nothing.
    """
    if quiet:
        yield lambda job: None  # noqa: ARG005 - nobody watches
        return
    console = Console(stderr=True, highlight=False)
    moves = console.is_terminal and not console.is_dumb_terminal
    display: Display = Live(console, _LOOKS) if moves else Lines(EVERY)
    display.begin()
    try:
        yield display.follow
    finally:
        display.end()

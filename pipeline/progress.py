"""Show that a run is alive and how far it is: a line that moves on a terminal, a line now and then elsewhere.

All of it goes to standard error, so that what a run prints at its end stands alone on standard output.
"""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from pipeline.output import counted, json_line, visible
from transforms.stages.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from transforms.stages.progress import Rejected, Watch

EVERY = 30.0
"""Seconds between lines where no terminal is."""
_LOOKS = 1.0
"""Seconds between looks on a terminal, at least; a store that is slow to answer is asked less often."""
_PATIENCE = 20
"""How many times as long as a look took, until the next one."""
_NAMED = 20
"""Rejected documents that are named as they happen; the rest are counted."""


class Display:
    """What is known of the run so far; ``follow`` is given a run as soon as there is one."""

    def __init__(self, every: float) -> None:
        self._every = every
        self._watch: Watch | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._repeat, name="progress", daemon=True)
        self._start = time.monotonic()

    def follow(self, watch: Watch) -> None:
        """Watch this run from now on."""
        self._watch = watch

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

    def name(self, rejected: list[Rejected]) -> None:
        """Show documents that were rejected since the last look; a display that has no room shows none."""

    def look(self) -> None:
        """Look and show, once."""
        if self._watch is None:
            self.show(None)
            return
        progress = self._watch.look()
        self.name(self._watch.rejections())
        self.show(progress)

    def _repeat(self) -> None:
        wait = self._every
        while not self._ended.wait(wait):
            began = time.monotonic()
            self.look()
            wait = max(self._every, _PATIENCE * (time.monotonic() - began))


class Lines(Display):
    """A plain line every now and then, for logs."""

    def show(self, progress: Progress | None) -> None:
        line = f"{said(progress)}{rate(progress, self.seconds())}"
        print(f"parquetry: {_span(self.seconds())}: {line}", file=sys.stderr, flush=True)


class Records(Display):
    """A JSON object every now and then, for machines."""

    def show(self, progress: Progress | None) -> None:
        record = {
            "event": "progress",
            "seconds": round(self.seconds(), 1),
            **asdict(progress or Progress()),
        }
        print(json_line(record), file=sys.stderr, flush=True)

    def name(self, rejected: list[Rejected]) -> None:
        for one in rejected:
            print(json_line({"event": "rejected", **asdict(one)}), file=sys.stderr, flush=True)


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
        self._named = 0

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
        self._bar.update(self._task, description=f"{said(progress)}{rate(progress, self.seconds())}")

    def name(self, rejected: list[Rejected]) -> None:
        for one in rejected[: _NAMED - self._named]:
            line = f"rejected {one.document}: {one.reason}: {one.detail}"
            self._bar.console.print(" ".join(visible(line).split()), markup=False, style="yellow")
        self._named = min(_NAMED, self._named + len(rejected))


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
    work = f"{progress.done:,} of {counted(progress.planned or 0, 'shard')} ({counted(progress.objects, 'object')})"
    counts = [counted(progress.documents, "document"), counted(progress.chunks, "chunk")]
    counts += [f"{progress.rejected:,} rejected"] if progress.rejected else []
    counts += [f"{progress.embedded:,} embedded{_paid(progress)}"] if progress.embedded else []
    counts += [f"{progress.reused:,} reused"] if progress.reused else []
    return f"{work} done: {', '.join(counts)}"


def _paid(progress: Progress) -> str:
    cost = "" if progress.cost is None else f", ${progress.cost:.2f}"
    return f" ({progress.tokens:,} tokens{cost})"


def rate(progress: Progress | None, seconds: float) -> str:
    """How fast a run is, and how long it will take yet at that rate; "" as long as nothing says so."""
    if progress is None or not progress.planned or not progress.done or seconds < 1:
        return ""
    left = (progress.planned - progress.done) * seconds / progress.done
    ends = f"; about {_span(left)} left" if progress.done < progress.planned else ""
    return f"; {progress.documents / seconds:,.1f} documents/s{ends}"


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"


@contextmanager
def progress_shown(*, quiet: bool, records: bool = False) -> Iterator[Callable[[Watch], None]]:
    """Show progress while the context is open; what it gives is to be called with the run.

    Args:
        quiet: show nothing.
        records: JSON, whatever standard error is.
    """
    if quiet and not records:
        yield lambda watch: None  # noqa: ARG005 - nobody watches
        return
    display = _display(records=records)
    display.begin()
    try:
        yield display.follow
    finally:
        display.end()


def _display(*, records: bool) -> Display:
    if records:
        return Records(EVERY)
    console = Console(stderr=True, highlight=False)
    moves = console.is_terminal and not console.is_dumb_terminal
    return Live(console, _LOOKS) if moves else Lines(EVERY)

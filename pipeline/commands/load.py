"""``parquetry load``: bring a collection of a vector store to the newest snapshot of a table."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from pipeline.config.loading import load_settings
from pipeline.lean import look_for_no_pandas
from pipeline.output import done_before_it_is_said, json_line, plain_console
from transforms.loaders.load import load
from transforms.storage.registry import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from transforms.loaders.load import Loaded
    from transforms.loaders.plan import Wishes

_EVERY = 30.0
"""Seconds between lines where no terminal is."""


def run(table: str, to: str, said: Mapping[str, Any], wishes: Wishes, *, quiet: bool, as_json: bool) -> int:
    """Load and say what was done.

    Args:
        table: the table's root.
        to: the address of a store, or a file of settings.
        said: settings that the command line gives.
        wishes: what is asked of this load alone.
        quiet: show no progress.
        as_json: print JSON instead of a sentence.

    Raises:
        ConfigError, GuardError, TableError, StorageError: as ``load`` does.
    """
    look_for_no_pandas()
    settings = load_settings(to, said)
    start = time.monotonic()
    with _progress(quiet=quiet or as_json) as watch:
        done = load(open_store(table), settings, wishes, watch)
    seconds = time.monotonic() - start
    with done_before_it_is_said():
        if as_json:
            print(json_line({"to": settings.address.shown, **asdict(done), "seconds": round(seconds, 3)}))
        else:
            plain_console().print(_sentence(settings.address.shown, done, seconds), soft_wrap=True)
    return 0


def _sentence(to: str, done: Loaded, seconds: float) -> str:
    place = f"{to}#{done.collection}"
    if done.kind == "nothing":
        text = f"Nothing to load: {place} holds snapshot {done.snapshot} already, {done.rows:,} rows."
    elif done.kind == "full":
        text = (
            f"Loaded snapshot {done.snapshot} into {place} in full, because {done.why}: {done.rows:,} rows."
        )
    else:
        text = (
            f"Loaded the changes {done.why} to {done.snapshot} into {place}: {done.written:,} rows written, "
            f"{done.deleted:,} deleted, {done.rows:,} there now."
        )
    left_out = f" {done.left_out}" if done.left_out and done.kind == "full" else ""
    switched = " Readers see it now." if done.switched else ""
    return f"{text}{left_out}{switched} {seconds:.1f} s."


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """What is to be told how many rows of how many are written: a bar on a terminal, lines elsewhere."""
    console = Console(stderr=True, highlight=False)
    if quiet:
        yield lambda done, total: None  # noqa: ARG005 - nobody watches
    elif console.is_terminal and not console.is_dumb_terminal:
        columns = (
            BarColumn(24),
            MofNCompleteColumn(),
            TextColumn("rows"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("", total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
    else:
        yield _Lines(console)


class _Lines:
    """A line now and then, for logs."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._last >= _EVERY:
            self._last = now
            self._console.print(f"parquetry: {done:,} of {total:,} rows loaded", soft_wrap=True)

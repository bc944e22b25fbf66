"""``parquetry vacuum``: remove old snapshots, and what dead runs have left."""

from __future__ import annotations

import datetime
import json
import re
from dataclasses import asdict
from typing import TYPE_CHECKING

from pipeline.output import plain_console
from transforms.model.errors import ConfigError
from transforms.storage.registry import open_store
from transforms.table.history import vacuum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transforms.table.history import Vacuumed

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_SPAN = re.compile(r"(\d+)\s*([smhd])")


def run(table: str, *, keep: int, grace: str, dry_run: bool, as_json: bool) -> int:
    """Remove all but the newest ``keep`` snapshots that are older than ``grace`` and in nobody's use.

    Raises:
        ConfigError: ``keep`` or ``grace`` is no such thing.
        TableError: nothing was published there.
    """
    done = vacuum(open_store(table), keep, span(grace), dry_run=dry_run)
    if as_json:
        print(json.dumps({**asdict(done), "dry_run": dry_run}))
        return 0
    plain_console().print(_sentence(table, done, keep, grace, dry_run=dry_run), soft_wrap=True)
    return 0


def span(text: str) -> datetime.timedelta:
    """A time as a person writes it: ``90m``, ``12h``, ``7d``.

    Raises:
        ConfigError: it is none.
    """
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise ConfigError(f"--grace {text} is no span of time; write a number and s, m, h or d, as in 12h.")
    return datetime.timedelta(**{_UNITS[found[2]]: int(found[1])})


def _sentence(table: str, done: Vacuumed, keep: int, grace: str, *, dry_run: bool) -> str:
    if not done.snapshots and not done.unfinished:
        spared = f"besides the newest {keep} no snapshot is out of use and older than {grace} (--grace)"
        return f"Nothing to remove from {table}: {spared}."
    parts = []
    if done.snapshots:
        parts.append(f"snapshots {_numbers(done.snapshots)}")
    if done.unfinished:
        parts.append(f"unfinished {_numbers(done.unfinished)}")
    verb = "Would remove" if dry_run else "Removed"
    return f"{verb} {' and '.join(parts)} from {table}: {done.objects:,} objects."


def _numbers(numbers: Sequence[int]) -> str:
    return ", ".join(str(number) for number in numbers)

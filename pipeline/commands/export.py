"""``parquetry export``: files that a store's bulk import takes, and a check of such files by the store's rules."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.table import Table

from pipeline.commands.search import printable
from pipeline.output import done_before_it_is_said, json_line, plain_console
from transforms.exports.export import check, export
from transforms.exports.registry import find_profile
from transforms.model.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from transforms.exports.export import Wishes
    from transforms.exports.place import Manifest
    from transforms.exports.profile import Fault

_SHOWN = 50
"""Faults that are named for a person; JSON has all."""


def run(table: str, profile: str, wishes: Wishes, *, as_json: bool, quiet: bool) -> int:
    """Write an export and say what is in it.

    Raises:
        ParquetryError: it cannot be written, or the store would refuse too many rows.
    """
    found = find_profile(profile)
    if not wishes.to:
        raise ConfigError("--to is missing: say where the export goes, a folder or a bucket's prefix.")
    with _progress(shown=not quiet and not as_json and sys.stderr.isatty()) as tell:
        manifest = export(table, found, wishes, tell)
    with done_before_it_is_said():
        if as_json:
            print(json_line(asdict(manifest)))
        else:
            _say(manifest, found.title, wishes.to)
    return 0


def run_check(folder: str, profile: str, *, to: str, as_json: bool) -> int:
    """Print every fault of a folder; exit code 1 if there is one.

    Raises:
        ParquetryError: there is no such profile or folder, or ``to`` names another folder.
    """
    found = find_profile(profile)
    if to:
        raise ConfigError(
            f"--check writes nothing, so --to has no part in it: `parquetry export {to} --profile {profile} --check` "
            "checks that folder."
        )
    faults = list(check(found, folder))
    if as_json:
        print(json_line([asdict(fault) for fault in faults]))
        return int(bool(faults))
    console = plain_console()
    if not faults:
        console.print(f"{folder} keeps the rules of {found.title}.", soft_wrap=True)
        return 0
    for fault in faults[:_SHOWN]:
        console.print(printable(_line(fault)), soft_wrap=True)
    if len(faults) > _SHOWN:
        console.print(f"and {len(faults) - _SHOWN:,} faults more; --json names them all")
    return 1


def _say(manifest: Manifest, title: str, to: str) -> None:
    console = plain_console()
    size = sum(file.bytes for file in manifest.files)
    way = "" if manifest.since is None else f"from snapshot {manifest.since} "
    deletes = "" if manifest.since is None else f" and {manifest.deletes:,} ids to delete"
    console.print(
        f"Export for {title} {way}to snapshot {manifest.snapshot}: {manifest.upserts:,} rows{deletes} in "
        f"{_files(len(manifest.files))}, {size:,} bytes. {to.rstrip('/')}/README.md says how to load them.",
        soft_wrap=True,
    )
    if manifest.refused:
        console.print(_refused(manifest))


def _files(number: int) -> str:
    return "1 file" if number == 1 else f"{number:,} files"


def _refused(manifest: Manifest) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("left out because of")
    table.add_column("rows", justify="right")
    for reason, count in manifest.refused.items():
        table.add_row(reason, f"{count:,}")
    return table


def _line(fault: Fault) -> str:
    return f"{fault.path or 'all'}: {fault.rule}: {fault.detail}"


@contextmanager
def _progress(*, shown: bool) -> Iterator[Callable[[int], None] | None]:
    """A line with the rows so far, on a terminal."""
    if not shown:
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} rows"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("rows", total=None)
        yield lambda rows: bar.advance(task, rows)

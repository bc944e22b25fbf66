"""``parquetry diff``: what lies between two snapshots of a table."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.table import Table

from pipeline.commands.search import printable
from pipeline.output import json_line, plain_console, print_figures
from transforms.storage.registry import open_store
from transforms.table.compare import compare_snapshots

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from transforms.table.compare import SourceChange

_SHOWN = 50
"""Documents that are named for a person; JSON has all."""
_KINDS = ("documents", "chunks")
_SIGNS = {"added": "+", "changed": "~", "gone": "-"}


def run(table: str, before: int, after: int, *, as_json: bool) -> int:
    """Print documents and chunks that were added, changed and gone on the way from one to the other.

    Raises:
        TableError: one of the snapshots is not there.
    """
    changes = compare_snapshots(open_store(table), before, after)
    if as_json:
        sources = {name: asdict(change) for name, change in changes.items()}
        print(json_line({"from": before, "to": after, "sources": sources}))
        return 0
    console = plain_console()
    if not any(change.documents or change.chunks for change in changes.values()):
        console.print(f"Snapshots {before} and {after} hold the same rows.")
        return 0
    print_figures(_counts(changes))
    lines = list(_lines(changes))
    for line in lines[:_SHOWN]:
        console.print(line, soft_wrap=True)
    if len(lines) > _SHOWN:
        console.print(f"and {len(lines) - _SHOWN:,} documents more; --json names them all")
    return 0


def _counts(changes: Mapping[str, SourceChange]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("source")
    for kind in _KINDS:
        for sign in _SIGNS.values():
            table.add_column(f"{kind} {sign}", justify="right")
    for name, change in changes.items():
        counts = (len(getattr(getattr(change, kind), word)) for kind in _KINDS for word in _SIGNS)
        table.add_row(printable(name), *(f"{count:,}" for count in counts))
    return table


def _lines(changes: Mapping[str, SourceChange]) -> Iterator[str]:
    for name, change in changes.items():
        for word, sign in _SIGNS.items():
            for doc_id in getattr(change.documents, word):
                yield printable(f"{sign} {name}/{doc_id}")

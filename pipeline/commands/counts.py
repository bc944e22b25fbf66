"""The counts of a run or a snapshot as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from transforms.report.counted import COUNTED

if TYPE_CHECKING:
    from collections.abc import Mapping


def counts_table(sources: Mapping[str, Mapping[str, int]], total: Mapping[str, int]) -> Table:
    """A row a source; the total too, where there are several."""
    table = Table(box=None, pad_edge=False)
    table.add_column("source")
    for heading in COUNTED.values():
        table.add_column(heading, justify="right")
    rows = [*sources.items(), *([("total", total)] if len(sources) > 1 else [])]
    for name, counts in rows:
        # A name is no markup.
        table.add_row(Text(name), *(f"{counts.get(count, 0):,}" for count in COUNTED))
    return table

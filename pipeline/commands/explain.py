"""``parquetry explain``: everything that a table knows of one document."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.table import Table

from pipeline.commands.search import printable
from pipeline.explain import Explained, Vector, explain
from pipeline.output import json_line, plain_console

if TYPE_CHECKING:
    from rich.console import Console


def run(table: str, document: str, *, as_json: bool) -> int:
    """Print what is known of a document, by its URI or id.

    Raises:
        ConfigError: no snapshot knows it.
    """
    found = explain(table, document)
    if as_json:
        print(json_line([asdict(one) for one in found]))
        return 0
    console = plain_console()
    for one in found:
        _show(console, one)
    return 0


def _show(console: Console, one: Explained) -> None:
    for head, values in (("In the newest snapshot", one.facts), ("Rejected", one.rejection)):
        if values:
            console.print(head, style="bold")
            _show_values(console, values)
    if not one.facts:
        console.print("The newest snapshot does not have it.")
    console.print("\nHistory", style="bold")
    for event in one.history:
        why = f": {'; '.join(event.why)}" if event.why else ""
        when = event.created_at[:16].replace("T", " ")
        line = f"snapshot {event.snapshot}, {when} UTC: {event.what}{why}"
        console.print(f"  {printable(line)}", soft_wrap=True)
    if one.chunks:
        console.print("\nChunks", style="bold")
        console.print(_chunk_table(one))
        _show_terms(console, one)
    console.print()


def _show_values(console: Console, values: dict[str, Any]) -> None:
    width = max(map(len, values))
    for name, value in values.items():
        if value not in (None, [], ""):
            console.print(f"  {name:<{width}}  {printable(str(value))}", soft_wrap=True)


def _chunk_table(one: Explained) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("chunk", "span", "tokens", "page", "cut", "changed in", "vector"):
        table.add_column(column, overflow="fold")
    for row in one.chunks:
        vector = one.vectors.get(row["embed_key"])
        table.add_row(
            str(row["chunk_index"] + 1),
            f"{row['start']}\u2013{row['end']}",
            str(row["embed_tokens"]),
            str(row["page_start"] or ""),
            row["cut"],
            str(row["changed_in"]),
            "none" if row["embed_model"] is None or vector is None else _origin(vector),
        )
    return table


def _show_terms(console: Console, one: Explained) -> None:
    """The terms that a chunk is found by rather than others, a line a chunk."""
    if one.without_terms:
        console.print(f"\nIts terms cannot be told here: {one.without_terms}", soft_wrap=True)
    rows = [row for row in one.chunks if row.get("terms")]
    if not rows or one.without_terms:
        return
    console.print("\nTerms that tell a chunk from others, with their weights", style="bold")
    width = len(str(rows[-1]["chunk_index"] + 1))
    for row in rows:
        said = ", ".join(f"{printable(term['term'])} {term['weight']:.1f}" for term in row["terms"])
        console.print(f"{row['chunk_index'] + 1:>{width}}  {said}", soft_wrap=True)


def _origin(vector: Vector) -> str:
    if vector.document is None:
        return f"of snapshot {vector.snapshot}"
    return f"of snapshot {vector.snapshot}, from {printable(vector.document)}"

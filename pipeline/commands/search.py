"""``parquetry search``: the nearest chunks of a table, for a person or as JSON."""

from __future__ import annotations

import unicodedata
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from pipeline.output import json_line, plain_console
from pipeline.search import search

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.search import Hit

_SHOWN = 300
"""Code points of a chunk's text that are shown."""
_JOINERS = "\u200c\u200d"
"""Format characters that words of several scripts are spelt with."""


def run(
    table: str, question: str, *, top: int = 5, sources: Sequence[str] | None = None, as_json: bool = False
) -> int:
    """Print the hits; no hit is not a fault.

    Raises:
        ParquetryError: the table, a source or the question cannot be used.
    """
    hits = search(table, question, top, sources)
    if as_json:
        print(json_line([asdict(hit) for hit in hits], indent=2))
        return 0
    console = plain_console()
    if not hits:
        where = f" in {', '.join(sources)}" if sources else ""
        console.print(f"There is no chunk with a vector{where} at {table}.", soft_wrap=True)
    for number, hit in enumerate(hits, 1):
        _show(console, number, hit)
    return 0


def _show(console: Console, number: int, hit: Hit) -> None:
    head = Text(f"{number:>2}  {hit.score:.3f}  ")
    head.append(printable(f"{hit.source_name}/{hit.doc_id}"), style="bold")
    if hit.page is not None:
        head.append(f"  page {hit.page}")
    if hit.section_path:
        head.append("  " + printable(" > ".join(hit.section_path)), style="italic")
    console.print(head, soft_wrap=True)
    console.print(Padding(Text(shortened(hit.text)), (0, 0, 1, 4)))


def shortened(text: str, limit: int = _SHOWN) -> str:
    """The beginning of a text on one line: at most ``limit`` code points, cut at a space if one is near."""
    line = printable(text)
    if len(line) <= limit:
        return line
    cut = line[: limit - 1]
    space = cut.rfind(" ", limit // 2)
    return f"{cut[:space] if space > 0 else cut}…"


def printable(text: str) -> str:
    """The text on one line, without what steers a terminal: it comes from anyone's document."""
    return " ".join("".join(map(_shown, text)).split())


def _shown(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    return "" if unicodedata.category(character) == "Cf" else " "

"""``parquetry search``: the chunks of a table that answer best, for a person or as JSON."""

from __future__ import annotations

import unicodedata
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from pipeline.output import json_line, plain_console
from pipeline.search import search

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pipeline.search import Hit
    from transforms.model.fusion import Method
    from transforms.retrieval.fusion import By

_SHOWN = 300
"""Code points of a chunk's text that are shown."""
_DIGITS = {"sum": 3, "rrf": 5}
"""Behind the point, of a score of both: reciprocal ranks are small, and those of neighbours near to each other."""
_INDENT = 4
_TERMS = 20
"""Terms of a hit that are shown, those that add most; JSON has all."""
_JOINERS = "\u200c\u200d"
"""Format characters that words of several scripts are spelt with."""


def run(
    table: str,
    question: str,
    *,
    top: int = 5,
    sources: Sequence[str] | None = None,
    by: By | None = None,
    filters: Sequence[str] = (),
    fusion: Method | None = None,
    weight: float | None = None,
    explain: bool = False,
    as_json: bool = False,
) -> int:
    """Print the hits; no hit is not a fault.

    Raises:
        ParquetryError: the table, a source, a condition or the question cannot be used.
    """
    hits = search(table, question, top, sources, by=by, filters=filters, fusion=fusion, weight=weight)
    if as_json:
        print(json_line([asdict(hit) for hit in hits], indent=2))
        return 0
    console = plain_console()
    if not hits:
        console.print(_nothing(table, sources, by, filters), soft_wrap=True)
    for number, hit in enumerate(hits, 1):
        _show(console, number, hit, explain=explain)
    return 0


def _nothing(table: str, sources: Sequence[str] | None, by: By | None, filters: Sequence[str]) -> str:
    # By both, chunks may have vectors and terms, and the question no vector and none of their terms.
    ways = {"sparse": "with a word of the question", "dense": "with a vector"}
    what = ways.get(by or "", "that the question can be compared with")
    where = f" in {', '.join(sources)}" if sources else ""
    if filters:
        return f"No chunk {what}{where} meets {', '.join(filters)} at {table}."
    return f"There is no chunk {what}{where} at {table}."


def _show(console: Console, number: int, hit: Hit, *, explain: bool) -> None:
    head = Text(f"{number:>2}  {_score(hit)}  ")
    head.append(printable(f"{hit.source_name}/{hit.doc_id}"), style="bold")
    if hit.page is not None:
        head.append(f"  page {hit.page}")
    if hit.section_path:
        head.append("  " + printable(" > ".join(hit.section_path)), style="italic")
    console.print(head, soft_wrap=True)
    for line in _explanation(hit) if explain else ():
        console.print(Text(f"    {line}"), soft_wrap=True)
    for part in Text(shortened(hit.text)).wrap(console, max(console.width - _INDENT, _INDENT)):
        console.print(Text(" " * _INDENT + part.plain.rstrip()), soft_wrap=True)
    console.print()


def _explanation(hit: Hit) -> Iterator[str]:
    """Why a hit stands where it does: its scores with their places, and the terms that it has."""
    if hit.dense is not None:
        yield f"dense {hit.dense:.3f}{_place(hit.dense_rank)}"
    if hit.sparse is not None:
        yield f"sparse {hit.sparse:.2f}{_place(hit.sparse_rank)}"
        if hit.fusion is not None:
            yield f"together {_score(hit)} ({hit.fusion})"
        terms = ", ".join(
            f"{printable(one.term)} {one.score:.2f} ({one.weight:.2f})" for one in hit.matches[:_TERMS]
        )
        if len(hit.matches) > _TERMS:
            terms += f" and {len(hit.matches) - _TERMS:,} more"
        yield f"terms, and in brackets their weight in the question: {terms}" if terms else "no term"


def _score(hit: Hit) -> str:
    return f"{hit.score:.{3 if hit.fusion is None else _DIGITS[hit.fusion.method]}f}"


def _place(rank: int | None) -> str:
    return ", not among the first" if rank is None else f", place {rank}"


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

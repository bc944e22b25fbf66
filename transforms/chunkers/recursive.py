"""``recursive``: the first separator of a list that has a place within the size decides, as splitters of that name do.

The order of ``breaks`` is absolute: a separator further down is looked at only where those above it have no
place that fills ``size.min_fill`` of the target. Where none has, the cut is between graphemes.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from transforms.model.chunk import Cut, CutKind
from transforms.model.document import BlockKind
from transforms.structure.breaks import (
    last_blank_line,
    last_grapheme,
    last_line,
    last_sentence,
    last_space,
    last_word,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from transforms.chunkers.settings import ChunkSettings
    from transforms.chunkers.tools import Tools
    from transforms.model.document import Document

    Finder: TypeAlias = Callable[[str, int, int, int], int | None]

_NAMED: dict[str, Finder] = {
    "paragraph": last_blank_line,
    "line": last_line,
    "word": last_word,
    "grapheme": lambda text, _low, high, begin: last_grapheme(text, begin, high),
    " ": last_space,
}
_INK = re.compile(r"\S")


def cut_recursive(document: Document, settings: ChunkSettings, tools: Tools) -> list[Cut]:
    """The document's chunks: ordered, disjoint, all ink covered, none without ink."""
    text, size = document.text, settings.size
    cuts: list[Cut] = []
    finders = [_finder(name, settings) for name in settings.breaks]
    headings = {}
    if settings.headings.keep_with_next:
        headings = {block.end: block.start for block in document.blocks if block.kind is BlockKind.HEADING}
    last = len(text.rstrip())
    found = _INK.search(text)
    while found and found.start() < last:
        start = found.start()
        high = max(start + 1, tools.measure.reach(start, size.target))
        if high >= last:
            return [*cuts, Cut(start, last, CutKind.SPLIT if cuts else CutKind.WHOLE)]
        low = min(high - 1, tools.measure.reach(start, int(size.min_fill * size.target)))
        end = _end(text, low, high, start, finders, headings)
        if end is not None:
            cuts.append(Cut(start, end, CutKind.SPLIT))
        else:
            end = last_grapheme(text, start, high)
            cuts.append(Cut(start, start + len(text[start:end].rstrip()), CutKind.HARD))
        found = _INK.search(text, end)
    return cuts


def _end(
    text: str, low: int, high: int, start: int, finders: Sequence[Finder], headings: Mapping[int, int]
) -> int | None:
    """The place of the first separator that has one. A heading goes with what follows it, if anything else helps."""
    first = None
    for find in finders:
        end = before = find(text, low, high, start)
        if before is None:
            continue
        while headings.get(before, start) > start:
            before = start + len(text[start : headings[before]].rstrip())
        if before not in headings:
            return before
        first = end if first is None else first
    return first


def _finder(name: str, settings: ChunkSettings) -> Finder:
    if name == "sentence":
        return partial(last_sentence, rules=settings.sentences.rules)
    return _NAMED.get(name) or _literal(name)


def _literal(separator: str) -> Finder:
    """The separator ends the piece before it; white space at its end may lie over the limit."""
    ink = len(separator.rstrip())

    def last(text: str, low: int, high: int, begin: int) -> int | None:  # noqa: ARG001 - as all
        place = text.rfind(separator, max(0, low - ink), high - ink + len(separator))
        end = place + ink
        while place >= 0 and end > low and text[end - 1].isspace():
            end -= 1
        return end if place >= 0 and end > low else None

    return last

"""``code``: source code cut between the nodes of its syntax tree, everything else as by ``verbatim``.

Whole definitions are packed up to the target; one over it is taken apart, and cut where it is shallowest. A
language without a grammar, and code of a megabyte and more, is cut at blank lines and lines. A heading goes
with the first piece of the code that it stands above.
"""

from __future__ import annotations

import re
from itertools import groupby, pairwise, takewhile
from typing import TYPE_CHECKING

from transforms.chunkers.packing import clipped, pack_blocks
from transforms.model.chunk import Cut, CutKind
from transforms.model.document import Block, BlockKind
from transforms.structure.syntax import LARGEST, Unit, grammar_of, syntax_units

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from transforms.chunkers.settings import ChunkSettings
    from transforms.chunkers.tools import Tools
    from transforms.model.document import Document

_A_LEVEL = 0.15
"""So much filling is given up to cut one node further out."""
_UNDER_FILLED = 1.0
_INK = re.compile(r"\S")


def cut_code(document: Document, settings: ChunkSettings, tools: Tools) -> list[Cut]:
    """The document's chunks: ordered, disjoint, all ink covered, none without ink.

    Raises:
        ConfigError: the grammars are not installed.
    """
    if not document.blocks:
        return []
    start, end = document.blocks[0].start, document.blocks[-1].end
    if tools.measure(start, end) <= settings.size.target:
        return [Cut(start, end, CutKind.WHOLE)]
    cuts: list[Cut] = []
    for grammar, blocks in _regions(document.blocks, keep=settings.headings.keep_with_next):
        if grammar is None or blocks[-1].end - blocks[0].start > LARGEST:
            cuts += pack_blocks(document.text, blocks, settings, tools.measure)
        else:
            cuts += _cut_region(document.text, blocks, grammar, settings, tools)
    return cuts


def _grammar(block: Block) -> str | None:
    return grammar_of(block.language) if block.kind is BlockKind.CODE else None


def _regions(blocks: Sequence[Block], *, keep: bool) -> list[tuple[str | None, list[Block]]]:
    """Runs of blocks of one grammar, or of none; with ``keep``, headings are in the run of what follows them."""
    runs = [(grammar, list(group)) for grammar, group in groupby(blocks, key=_grammar)]
    if keep:
        for (_, before), (_, behind) in pairwise(runs):
            headings = list(takewhile(lambda block: block.kind is BlockKind.HEADING, reversed(before)))
            behind[:0] = reversed(headings)
            del before[len(before) - len(headings) :]
    return [(grammar, run) for grammar, run in runs if run]


def _cut_region(
    text: str, blocks: Sequence[Block], grammar: str, settings: ChunkSettings, tools: Tools
) -> list[Cut]:
    first, last = blocks[0].start, blocks[-1].end
    fences = [block for block in blocks if block.kind is BlockKind.CODE]
    top = fences[0].start
    found = syntax_units(
        _without_fences(text, fences, top, last),
        grammar,
        lambda start, end: tools.measure(top + start, top + end) <= settings.size.target,
    )
    units = [Unit(top + unit.start, top + unit.end, unit.depth) for unit in found]
    cuts: list[Cut] = []
    for start, end in _packed(text, units, first, last, settings, tools):
        if tools.measure(start, end) <= settings.size.max:
            cuts.append(Cut(start, end, CutKind.WHOLE if (start, end) == (first, last) else CutKind.PACKED))
        else:
            cuts += pack_blocks(text, clipped(text, blocks, start, end), settings, tools.measure)
    return cuts


def _without_fences(text: str, blocks: Sequence[Block], first: int, last: int) -> str:
    """The code, with blanks in place of the lines around it, so that offsets hold."""
    parts, at = [], first
    for block in blocks:
        parts.append(text[at : block.start])
        lines = text[block.start : block.end].split("\n")
        if lines[0].lstrip().startswith(("```", "~~~")):
            closed = len(lines) > 1 and not lines[-1].strip(" \t`~")
            fences = (0, len(lines) - 1) if closed else (0,)
            lines = [" " * len(line) if n in fences else line for n, line in enumerate(lines)]
        parts.append("\n".join(lines))
        at = block.end
    return "".join(parts) + text[at:last]


def _packed(
    text: str, units: Sequence[Unit], first: int, last: int, settings: ChunkSettings, tools: Tools
) -> Iterator[tuple[int, int]]:
    """Spans of units up to the target, ended at a boundary that is filled and far out."""
    size, measure = settings.size, tools.measure
    floor = int(size.min_fill * size.target)
    bounds = [*(unit.end for unit in units[:-1]), last]
    # From ink to ink, because a parser may pass over what it does not understand.
    starts = [first, *(_line_start(text, bound, last) for bound in bounds[:-1])]
    # Into a definition deeper than between what is inside; out of it as deep as what comes next.
    depths = [*(after.depth + (after.depth > unit.depth) for unit, after in pairwise(units)), 0]
    place = 0
    while place < len(bounds):
        start, stop = starts[place], place
        while stop + 1 < len(bounds) and measure(start, bounds[stop + 1]) <= size.target:
            stop += 1
        if stop + 1 < len(bounds) and stop > place:
            room = bounds[stop] - start

            def worth(at: int, start: int = start, room: int = room) -> float:
                under = _UNDER_FILLED if measure(start, bounds[at]) < floor else 0.0
                return (bounds[at] - start) / room - _A_LEVEL * depths[at] - under

            stop = max(range(place, stop + 1), key=worth)
        yield start, bounds[stop]
        place = stop + 1


def _line_start(text: str, bound: int, last: int) -> int:
    """The next ink behind a boundary, with its indentation."""
    found = _INK.search(text, bound, last)
    start = found.start() if found else last
    while start > bound and text[start - 1] in " \t":
        start -= 1
    return start

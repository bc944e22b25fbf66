"""Cut a run of blocks into chunks: each ends at the best break within its size.

Every place where a chunk may end has a worth: how well the chunk is filled, plus what a break of that kind is
worth. So a paragraph's end beats a sentence's end that fills the chunk a little better, but not one that fills
it twice as well. What all strategies have in common is decided here: headings stay with what follows them,
tables and code are cut only if they must be, a small rest joins the chunk before it or is balanced with it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

from transforms.model.chunk import Cut, CutKind
from transforms.model.document import BlockKind
from transforms.structure.breaks import (
    last_blank_line,
    last_grapheme,
    last_item,
    last_line,
    last_outer_item,
    last_row,
    last_sentence,
    last_space,
    last_wide_character,
    last_word,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias

    from transforms.chunkers.settings import ChunkSettings
    from transforms.chunkers.size import Measure
    from transforms.model.document import Block

    Finder: TypeAlias = Callable[[str, int, int, int], int | None]
    Break: TypeAlias = tuple[float, int, CutKind]
    """Its worth, the end of the ink before it, and the kind of the chunk that ends there."""

# The worth of a break beside that of filling the chunk, which is between 0 and 1. Set by hand: the order is
# paragraph, item, line, sentence, word, grapheme, the gaps say how much filling one is given up for.
_BEFORE_HEADING = 0.9
_BETWEEN_BLOCKS = 0.6
_ITEM = 0.45
_INNER_ITEM = 0.35
_ROW = 0.45
_BEHIND_HEADER_ROW = 0.0
_KEPT_WHOLE = (BlockKind.TABLE, BlockKind.CODE)
_BLANK_LINE = 0.4
_LINE_OF_CODE = 0.2
_SENTENCE = 0.2
_LINE_OF_PROSE = 0.1
_BEHIND_HEADING = -0.4
_WORD = -0.5
_WIDE_CHARACTER = -0.8
_HELD_WORD = -1.6
_GRAPHEME = -2.0
_UNDER_FILLED = -1.0
"""Of a break that leaves the chunk under ``min_fill``."""
_IN_WHOLE = -2.0
"""Of a break inside a table or code that would fit a chunk of its own."""
_BALANCE = 0.5
"""So much worth is given up for a last chunk that is not a runt."""
_BEST_INSIDE = 1.0 + _ITEM
_INSIDE: dict[BlockKind, tuple[tuple[float, Finder], ...]] = {
    BlockKind.PARAGRAPH: ((_SENTENCE, last_sentence), (_LINE_OF_PROSE, last_line)),
    BlockKind.LIST: (
        (_ITEM, last_outer_item), (_INNER_ITEM, last_item), (_SENTENCE, last_sentence), (_LINE_OF_PROSE, last_line),
    ),
    BlockKind.CODE: ((_BLANK_LINE, last_blank_line), (_LINE_OF_CODE, last_line)),
    BlockKind.TABLE: ((_ROW, last_row), (_BEHIND_HEADER_ROW, last_line)),
}  # fmt: skip
_ANYWHERE: tuple[tuple[float, Finder], ...] = (
    (_WORD, last_word), (_WIDE_CHARACTER, last_wide_character), (_HELD_WORD, last_space),
)  # fmt: skip
_DEEPEST_INDENT = 64
_INK = re.compile(r"\S")


def pack_blocks(text: str, blocks: Sequence[Block], settings: ChunkSettings, measure: Measure) -> list[Cut]:
    """Cuts of the blocks' span: ordered, disjoint, all ink covered, none blank, each towards the target.

    A chunk is over ``size.target`` only to keep a table or code whole or to take in a small rest, and over
    ``size.max`` only if it is a single grapheme.
    """
    return list(_Packer(text, blocks, settings, measure).cuts()) if blocks else []


def clipped(text: str, blocks: Sequence[Block], start: int, end: int) -> list[Block]:
    """The parts of blocks inside a span, without white space at their ends, where they have ink."""
    first = bisect_right(blocks, start, key=lambda block: block.end)
    after = bisect_left(blocks, end, lo=first, key=lambda block: block.start)
    parts = []
    for block in blocks[first:after]:
        begin, stop = max(block.start, start), min(block.end, end)
        stop = begin + len(text[begin:stop].rstrip())
        if stop > begin:
            parts.append(
                block
                if (begin, stop) == (block.start, block.end)
                else replace(block, start=begin, end=stop)
            )
    return parts


class _Packer:
    def __init__(
        self, text: str, blocks: Sequence[Block], settings: ChunkSettings, measure: Measure
    ) -> None:
        self._text, self._blocks, self._measure = text, blocks, measure
        self._size, self._keep = settings.size, settings.headings.keep_with_next
        self._floor = int(settings.size.min_fill * settings.size.target)
        self._ends = [block.end for block in blocks]
        self._end = blocks[-1].end

    def cuts(self) -> Iterator[Cut]:
        start, began, first = self._start(self._blocks[0].start), CutKind.PACKED, True
        while True:
            end, kind = self._chunk(start)
            last = end >= self._end
            yield Cut(start, end, CutKind.WHOLE if first and last else _harder(began, kind))
            if last:
                return
            start, began, first = self._start(end), kind, False

    def _chunk(self, start: int) -> tuple[int, CutKind]:
        """Where the chunk that starts here ends, and how."""
        size, end = self._size, self._end
        high = max(start + 1, self._measure.reach(start, size.target))
        if end <= high:
            return end, CutKind.PACKED
        top = self._measure.reach(start, size.max)
        worth, cut, kind = self._best(start, high, top)
        # From high, which is no nearer, or else exactly: what is left is no runt.
        if not size.merge_runts or self._measure.reach(high, self._floor) <= end or cut >= end:
            return cut, kind
        if self._measure.reach(self._start(cut), self._floor) <= end:
            return cut, kind
        if end <= top:
            return end, CutKind.PACKED
        lower = min(high - 1, self._measure.tail(end, self._floor))
        if lower > start:
            balanced = self._best(start, lower, lower)
            if balanced[0] >= worth - _BALANCE:
                return balanced[1:]
        return cut, kind

    def _best(self, start: int, high: int, top: int) -> Break:
        """The break of most worth up to ``high``; a table or code is taken whole if it ends by ``top``."""
        place = bisect_right(self._ends, high)
        block = self._blocks[place]
        whole = block.kind in _KEPT_WHOLE and start <= block.start < high
        if whole and block.end <= top:
            return _BEST_INSIDE, block.end, CutKind.PACKED
        best = self._between_blocks(start, high, place)
        if block.start < high and (best is None or best[0] < _BEST_INSIDE):
            alone = whole and block.end <= self._measure.reach(block.start, self._size.max)
            best = self._inside(best, start, high, block, _IN_WHOLE if alone else 0)
        if best is None or best[0] < _GRAPHEME + 1:
            end = last_grapheme(self._text, start, high)
            return _GRAPHEME + (end - start) / (high - start), end, CutKind.HARD
        return best

    def _between_blocks(self, start: int, high: int, place: int) -> Break | None:
        """Before the block at ``place``, or before the headings that lead to it."""
        blocks, ends, behind = self._blocks, self._ends, place
        if self._keep:
            while place > 0 and blocks[place - 1].kind is BlockKind.HEADING and ends[place - 1] > start:
                place -= 1
        if place > 0 and ends[place - 1] > start:
            worth = _BEFORE_HEADING if blocks[place].kind is BlockKind.HEADING else _BETWEEN_BLOCKS
        elif behind > 0 and ends[behind - 1] > start:
            place, worth = behind, _BEHIND_HEADING
        else:
            return None
        end = ends[place - 1]
        return self._worth(worth, start, end, high), end, CutKind.PACKED

    def _inside(
        self, best: Break | None, start: int, high: int, block: Block, penalty: float
    ) -> Break | None:
        """The best of a break and all inside a block."""
        for worth, last in (*_INSIDE.get(block.kind, ()), *_ANYWHERE):
            if best and best[0] >= worth + penalty + 1:
                return best
            end = last(self._text, max(start, block.start), high, block.start)
            if end is not None:
                value = self._worth(worth + penalty, start, end, high)
                if best is None or value > best[0]:
                    best = value, end, CutKind.SPLIT
        return best

    def _worth(self, worth: float, start: int, end: int, high: int) -> float:
        if self._measure.reach(start, self._floor) > end:
            worth += _UNDER_FILLED
        return worth + (end - start) / (high - start)

    def _start(self, position: int) -> int:
        """The first ink from a position on, or the indentation before it if that is not too much."""
        found = _INK.search(self._text, position)
        if found is None:
            return self._end
        ink = found.start()
        if ink == position or self._text[ink - 1] == "\n":
            return ink
        first = max(position, ink - _DEEPEST_INDENT)
        line = self._text.rfind("\n", first, ink) + 1
        if not line and (first > position or (first > 0 and self._text[first - 1] != "\n")):
            return ink
        line = line or first
        return line if self._measure.reach(line, self._size.target) > ink else ink


def _harder(began: CutKind, ended: CutKind) -> CutKind:
    """The kind of a chunk by both its ends."""
    for kind in (CutKind.HARD, CutKind.SPLIT):
        if kind in (began, ended):
            return kind
    return CutKind.PACKED

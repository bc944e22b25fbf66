"""Cut a run of blocks into chunks: each ends at the best break within its size.

Every place where a chunk may end has a worth: how well the chunk is filled, plus what a break of that kind is
worth. So a paragraph's end beats a sentence's end that fills the chunk a little better, but not one that fills
it twice as well. What all strategies have in common is decided here: headings stay with what follows them,
tables and code are cut only if they must be, a small rest joins the chunk before it or is balanced with it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from transforms.model.chunk import Cut, CutKind
from transforms.model.document import BlockKind
from transforms.structure.breaks import (
    last_blank_line,
    last_grapheme,
    last_item,
    last_line,
    last_outer_item,
    last_phrase,
    last_row,
    last_sentence,
    last_space,
    last_wide_character,
    last_word,
    next_grapheme,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from transforms.chunkers.settings import ChunkSettings, SentenceSettings
    from transforms.chunkers.size import Measure
    from transforms.model.document import Block

    Finder: TypeAlias = Callable[[str, int, int, int], int | None]
    Break: TypeAlias = tuple[float, int, CutKind]
    """Its worth, the end of the ink before it, and the kind of the chunk that ends there."""
    Span: TypeAlias = tuple[int, int, CutKind]

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
_LINE_OF_PROSE = 0.0
"""A fifth of the filling under a sentence: in text with hard line ends a line ends anywhere."""
_BEHIND_HEADING = -0.4
_WORD = -0.5
_PHRASE = -0.6
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
_ANYWHERE: tuple[tuple[float, Finder], ...] = (
    (_WORD, last_word), (_PHRASE, last_phrase), (_WIDE_CHARACTER, last_wide_character), (_HELD_WORD, last_space),
)  # fmt: skip
_DEEPEST_INDENT = 64
_INK = re.compile(r"\S")
_PACKED, _HEADING = CutKind.PACKED, BlockKind.HEADING


def pack_blocks(text: str, blocks: Sequence[Block], settings: ChunkSettings, measure: Measure) -> list[Cut]:
    """Cuts of the blocks' span: ordered, disjoint, all ink covered, none blank, each towards the target.

    A chunk is over ``size.target`` only to keep a table or code whole or to take in a small rest, and over
    ``size.max`` only if it is a single grapheme.
    """
    return [Cut(start, end, kind) for start, end, kind in pack_spans(text, blocks, settings, measure)]


def pack_spans(text: str, blocks: Sequence[Block], settings: ChunkSettings, measure: Measure) -> list[Span]:
    """The spans of :func:`pack_blocks`, from ink to ink."""
    return _Packer(text, blocks, settings, measure).spans() if blocks else []


@lru_cache(maxsize=64)
def _inside_of(sentences: SentenceSettings) -> dict[BlockKind, tuple[tuple[float, Finder], ...]]:
    """The breaks inside each kind of block, the best first, then those that any text has."""
    sentence = _SENTENCE, partial(last_sentence, rules=sentences.rules)
    line = _LINE_OF_PROSE, last_line
    inside: dict[BlockKind, tuple[tuple[float, Finder], ...]] = {
        BlockKind.HEADING: (),
        BlockKind.PARAGRAPH: (sentence, line),
        BlockKind.LIST: ((_ITEM, last_outer_item), (_INNER_ITEM, last_item), sentence, line),
        BlockKind.CODE: ((_BLANK_LINE, last_blank_line), (_LINE_OF_CODE, last_line)),
        BlockKind.TABLE: ((_ROW, last_row), (_BEHIND_HEADER_ROW, last_line)),
    }
    return {kind: (*breaks, *_ANYWHERE) for kind, breaks in inside.items()}


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
                else block._replace(start=begin, end=stop)
            )
    return parts


class _Packer:
    def __init__(
        self, text: str, blocks: Sequence[Block], settings: ChunkSettings, measure: Measure
    ) -> None:
        self._text, self._blocks, self._measure = text, blocks, measure
        self._size, self._keep = settings.size, settings.headings.keep_with_next
        self._breaks = _inside_of(settings.sentences)
        self._target, self._reach = settings.size.target, measure.reach
        self._floor = int(settings.size.min_fill * settings.size.target)
        self._ends = [block.end for block in blocks]
        self._end = blocks[-1].end
        self._runt = measure.tail(self._end, self._floor) if settings.size.merge_runts else self._end
        """What begins before it is no runt, whatever comes of the rest."""

    def spans(self) -> list[Span]:
        start, began = self._start(self._blocks[0].start), _PACKED
        spans: list[Span] = []
        while True:
            end, kind = self._chunk(start)
            spans.append((start, end, kind if began is _PACKED else _harder(began, kind)))
            if end >= self._end:
                return spans if len(spans) > 1 else [(start, end, CutKind.WHOLE)]
            start, began = self._start(end), kind

    def _chunk(self, start: int) -> tuple[int, CutKind]:
        """Where the chunk that starts here ends, and how."""
        end = self._end
        high = self._reach(start, self._target)
        if high <= start:
            high = start + 1
        if end <= high:
            return end, _PACKED
        worth, cut, kind = self._best(start, high)
        # What is left begins at the cut or behind it: that is looked at exactly only where it matters.
        if high < self._runt or cut >= end or self._reach(self._start(cut), self._floor) <= end:
            return cut, kind
        if not self._size.merge_runts:
            return cut, kind
        if end <= self._reach(start, self._size.max):
            return end, _PACKED
        lower = min(high - 1, self._measure.tail(end, self._floor))
        if lower > start:
            balanced = self._best(start, lower, cut_short=True)
            if balanced[0] >= worth - _BALANCE:
                return balanced[1:]
        return cut, kind

    def _best(self, start: int, high: int, *, cut_short: bool = False) -> Break:
        """The break of most worth up to ``high``.

        A table or code that goes on behind it is taken whole if the maximum allows, unless ``cut_short``.
        """
        place = bisect_right(self._ends, high)
        block = self._blocks[place]
        whole = block.kind in _KEPT_WHOLE and start <= block.start < high
        if whole and block.end <= (high if cut_short else self._reach(start, self._size.max)):
            return _BEST_INSIDE, block.end, _PACKED
        least = self._reach(start, self._floor)
        best = self._between_blocks(start, high, least, place)
        if block.start < high and (best is None or best[0] < _BEST_INSIDE):
            alone = whole and block.end <= self._reach(block.start, self._size.max)
            best = self._inside(best, start, high, least, block, _IN_WHOLE if alone else 0)
        if best is None or best[0] < _GRAPHEME + 1:
            end = last_grapheme(self._text, start, high)
            return _GRAPHEME + (end - start) / (high - start), end, CutKind.HARD
        return best

    def _between_blocks(self, start: int, high: int, least: int, place: int) -> Break | None:
        """Before the block at ``place``, or before the headings that lead to it."""
        blocks, ends, behind = self._blocks, self._ends, place
        if place == 0 or ends[place - 1] <= start:
            return None
        if self._keep:
            while place > 0 and blocks[place - 1].kind is _HEADING and ends[place - 1] > start:
                place -= 1
        if place > 0 and ends[place - 1] > start:
            worth = _BEFORE_HEADING if blocks[place].kind is _HEADING else _BETWEEN_BLOCKS
        else:
            place, worth = behind, _BEHIND_HEADING
        end = ends[place - 1]
        if end < least:
            worth += _UNDER_FILLED
        return worth + (end - start) / (high - start), end, _PACKED

    def _inside(
        self, best: Break | None, start: int, high: int, least: int, block: Block, penalty: float
    ) -> Break | None:
        """The best of a break and all inside a block."""
        room, first = high - start, max(start, block.start)
        for kind_worth, last in self._breaks[block.kind]:
            low, worth = first, kind_worth + penalty
            if best is not None:
                if best[0] >= worth + 1:
                    return best
                if kind_worth > _WORD:
                    # Nearer to the start there can be none that is better.
                    low = max(first, start + int((best[0] - worth) * room))
            end = last(self._text, low, high, block.start)
            if end is not None:
                value = worth + (end - start) / room
                if end < least:
                    value += _UNDER_FILLED
                if best is None or value > best[0]:
                    best = value, end, CutKind.SPLIT
        return best

    def _start(self, position: int) -> int:
        """The first ink from a position on, or the indentation before it if that is not too much."""
        text = self._text
        if text.startswith("\n\n", position) and not text[position + 2].isspace():
            return position + 2  # as almost always; the search takes five times as long
        found = _INK.search(text, position)
        if found is None:
            return self._end
        ink = found.start()
        if ink == position or text[ink - 1] == "\n":
            return ink
        first = max(position, ink - _DEEPEST_INDENT)
        line = text.rfind("\n", first, ink) + 1
        if not line and (first > position or (first > 0 and text[first - 1] != "\n")):
            return ink
        line = line or first
        fits = next_grapheme(text, ink, ink + 1, self._end) <= self._reach(line, self._target)
        return line if fits else ink


def _harder(began: CutKind, ended: CutKind) -> CutKind:
    """The kind of a chunk by both its ends."""
    for kind in (CutKind.HARD, CutKind.SPLIT):
        if kind in (began, ended):
            return kind
    return _PACKED

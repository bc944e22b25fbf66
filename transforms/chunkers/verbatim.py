"""``verbatim``: slices of the document in order, cut at the best break that the size allows.

The document's blocks are packed up to the target. A block over the target is cut at sentences,
else lines (the other way round in lists, tables and code), else words, else graphemes, and its parts are
packed in the same way, so that each chunk ends at the best kind of break that leaves it well filled, and no
chunk is over the maximum.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from transforms.model.chunk import Cut, CutKind
from transforms.model.document import Block, BlockKind
from transforms.structure.sentences import (
    grapheme_spans,
    line_spans,
    loose_word_spans,
    sentence_spans,
    word_spans,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias

    from transforms.chunkers.settings import ChunkSettings
    from transforms.chunkers.size import Measure
    from transforms.model.document import Document

    Splitter: TypeAlias = Callable[[str, int, int], Iterator[tuple[int, int]]]

_WORDS = (word_spans, loose_word_spans)
_PROSE = (sentence_spans, line_spans, *_WORDS)
_LINES = (line_spans, sentence_spans, *_WORDS)


def cut_verbatim(document: Document, settings: ChunkSettings, measure: Measure) -> list[Cut]:
    """The document's chunks: ordered, disjoint, all ink covered, none without ink."""
    text, size = document.text, settings.size
    if not document.blocks:
        return []
    start, end = document.blocks[0].start, document.blocks[-1].end
    if measure(start, end) <= size.target:
        return [Cut(start, end, CutKind.WHOLE)]
    return pack_blocks(text, document.blocks, settings, measure)


def pack_blocks(
    text: str, blocks: Sequence[Block], settings: ChunkSettings, measure: Measure
) -> list[Cut]:
    """Blocks in order packed up to the target, and cut where one is over it: for every strategy."""
    packer = _Packer(text, settings, measure)
    for unit in _units(blocks, keep=settings.headings.keep_with_next):
        packer.add(unit)
    return packer.finish()


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is packed as one if it fits, else cut by the first of its levels.

    ``lead`` is where the headings in front end: no cut is made there while what follows has room.
    """

    start: int
    end: int
    levels: tuple[Splitter, ...]
    lead: int
    kind: CutKind = CutKind.PACKED


def _units(blocks: Sequence[Block], *, keep: bool) -> Iterator[_Unit]:
    """Blocks as units of packing; headings go with the block that follows them."""
    start = None
    for block in blocks:
        start = block.start if start is None else start
        if keep and block.kind is BlockKind.HEADING and block is not blocks[-1]:
            continue
        yield _Unit(
            start, block.end, _PROSE if block.kind is BlockKind.PARAGRAPH else _LINES, lead=block.start
        )
        start = None


class _Packer:
    """Collects units in order; a unit that does not fit is cut and its parts are packed."""

    def __init__(self, text: str, settings: ChunkSettings, measure: Measure) -> None:
        self._text = text
        self._size = settings.size
        self._measure = measure
        self._floor = int(settings.size.min_fill * settings.size.target)
        self._cuts: list[Cut] = []
        self._start: int | None = None
        self._end = 0
        self._kind = CutKind.PACKED

    def add(self, unit: _Unit) -> None:
        """Put a unit into the running chunk, or close that and begin the next, or cut the unit."""
        end = _ink_end(self._text, unit.start, unit.end)
        if end == unit.start:
            return
        if self._start is not None and self._measure(self._start, end) <= self._size.target:
            self._extend(end, unit.kind)
        elif self._fits(unit.start, end) and self._filled(self._floor):
            self._close()
            self._start, self._end, self._kind = unit.start, end, unit.kind
        else:
            if self._filled(self._size.target / 2):
                self._close()
            if unit.levels:
                for part in self._parts(unit):
                    self.add(part)
            else:
                self._cut_hard(unit.start, end)

    def _cut_hard(self, start: int, end: int) -> None:
        """Cut what has no break left at graphemes, each chunk as full as the target allows."""
        ends = [stop for _, stop in grapheme_spans(self._text, start, end)]
        done = 0
        while done < len(ends):
            begin = start if self._start is None else self._start
            fit = bisect_right(ends, self._size.target, lo=done, key=partial(self._measure, begin))
            if fit == done and self._start is not None:
                self._close()
                continue
            fit = max(fit, done + 1)
            self._start, self._end, self._kind = begin, ends[fit - 1], CutKind.HARD
            start, done = ends[fit - 1], fit
            if done < len(ends):
                self._close()

    def finish(self) -> list[Cut]:
        """The cuts; a last one that is too small joins the one before it where the maximum allows."""
        self._close()
        cuts = self._cuts
        if self._size.merge_runts and len(cuts) > 1:
            last, before = cuts[-1], cuts[-2]
            small = self._measure(last.start, last.end) < self._floor
            if small and self._measure(before.start, last.end) <= self._size.max:
                cuts[-2:] = [Cut(before.start, last.end, before.kind)]
        return cuts

    def _parts(self, unit: _Unit) -> Iterator[_Unit]:
        """A unit cut by its first level; headings in front stay with the part behind them."""
        split, deeper, kind = unit.levels[0], unit.levels[1:], CutKind.SPLIT
        spans = split(self._text, unit.start, unit.end)
        if unit.lead > unit.start:
            led, behind = self._led(unit, spans)
            room = split not in _WORDS and self._fits(unit.start, unit.lead)
            if behind is not None and (room or self._fits(unit.start, behind)):
                yield _Unit(unit.start, behind, deeper, unit.lead, kind)
            else:
                for start, end in led:
                    yield _Unit(start, end, deeper, start, kind)
        for start, end in spans:
            yield _Unit(start, end, deeper, start, kind)

    def _led(
        self, unit: _Unit, spans: Iterator[tuple[int, int]]
    ) -> tuple[list[tuple[int, int]], int | None]:
        """The parts up to the first with ink behind the headings, and its end; None if there is none."""
        led = []
        for start, end in spans:
            led.append((start, end))
            if end > unit.lead and self._text[max(start, unit.lead) : end].strip():
                return led, end
        return led, None

    def _fits(self, start: int, end: int) -> bool:
        return self._measure(start, _ink_end(self._text, start, end)) <= self._size.target

    def _filled(self, least: float) -> bool:
        """Whether the running chunk may end here; with none running there is nothing to fill."""
        return self._start is None or self._measure(self._start, self._end) >= least

    def _extend(self, end: int, kind: CutKind) -> None:
        self._end = end
        if kind is not CutKind.PACKED:
            self._kind = kind

    def _close(self) -> None:
        if self._start is not None:
            piece = self._text[self._start : self._end]
            # Blank lines in front go; the indentation of the first line with ink stays.
            blank = len(piece) - len(piece.lstrip())
            start = self._start + piece.rfind("\n", 0, blank) + 1
            self._cuts.append(Cut(start, self._end, self._kind))
        self._start = None
        self._kind = CutKind.PACKED


def _ink_end(text: str, start: int, end: int) -> int:
    """The end without the white space in front of it, which no chunk needs and no bound counts."""
    return start + len(text[start:end].rstrip())

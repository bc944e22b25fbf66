"""``verbatim``: slices of the document in order, cut at the best break that the size allows.

The document's blocks are packed up to the target. A block over the target is cut at lines, else sentences,
else words, else graphemes, and its parts are packed in the same way, so that each chunk ends at the best
kind of break that leaves it well filled, and no chunk is over the maximum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.model.chunk import Cut, CutKind
from transforms.model.document import Block, BlockKind
from transforms.structure.sentences import grapheme_spans, line_spans, sentence_spans, word_spans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias

    from transforms.chunkers.settings import ChunkSettings
    from transforms.chunkers.size import Measure
    from transforms.model.document import Document

    Splitter: TypeAlias = Callable[[str, int, int], Iterator[tuple[int, int]]]

_PROSE = (sentence_spans, word_spans, grapheme_spans)
_LINES = (line_spans, *_PROSE)


def cut_verbatim(document: Document, settings: ChunkSettings, measure: Measure) -> list[Cut]:
    """The document's chunks: ordered, disjoint, all ink covered, none without ink."""
    text, size = document.text, settings.size
    if not document.blocks:
        return []
    start, end = document.blocks[0].start, document.blocks[-1].end
    if measure(start, end) <= size.target:
        return [Cut(start, end, CutKind.WHOLE)]
    packer = _Packer(text, settings, measure)
    for block_start, block_end, levels in _units(document.blocks, keep=settings.headings.keep_with_next):
        packer.add(block_start, block_end, levels)
    return packer.finish()


def _units(blocks: Sequence[Block], *, keep: bool) -> Iterator[tuple[int, int, tuple[Splitter, ...]]]:
    """Blocks as units of packing; headings go with the block that follows them."""
    start = None
    for block in blocks:
        start = block.start if start is None else start
        if keep and block.kind is BlockKind.HEADING and block is not blocks[-1]:
            continue
        by_lines = start < block.start or block.kind is not BlockKind.PARAGRAPH
        yield start, block.end, _LINES if by_lines else _PROSE
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

    def add(
        self, start: int, end: int, levels: tuple[Splitter, ...], kind: CutKind = CutKind.PACKED
    ) -> None:
        """Put a unit into the running chunk, or close that and begin the next, or cut the unit."""
        if self._start is not None and self._measure(self._start, end) <= self._size.target:
            self._extend(end, kind)
            return
        fits_alone = self._measure(start, end) <= self._size.target
        well_filled = self._start is not None and self._measure(self._start, self._end) >= self._floor
        if fits_alone and (self._start is None or well_filled or not levels):
            self._close()
            self._begin(start, end, kind)
        elif levels:
            inner = CutKind.HARD if levels[0] is grapheme_spans else CutKind.SPLIT
            if self._half_full():
                self._close()
            for part_start, part_end in levels[0](self._text, start, end):
                self.add(part_start, part_end, levels[1:], inner)
        else:
            self._close()
            self._begin(start, end, kind)

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

    def _half_full(self) -> bool:
        """Whether a unit that has to be cut had better begin a chunk of its own."""
        return self._start is not None and self._measure(self._start, self._end) * 2 >= self._size.target

    def _begin(self, start: int, end: int, kind: CutKind) -> None:
        self._start, self._end, self._kind = start, end, kind

    def _extend(self, end: int, kind: CutKind) -> None:
        self._end = end
        if kind is not CutKind.PACKED:
            self._kind = kind

    def _close(self) -> None:
        if self._start is not None:
            piece = self._text[self._start : self._end]
            ink = piece.strip()
            if ink:
                # Blank lines in front go; the indentation of the first line with ink stays.
                blank = len(piece) - len(piece.lstrip())
                start = self._start + piece.rfind("\n", 0, blank) + 1
                self._cuts.append(Cut(start, self._start + len(piece.rstrip()), self._kind))
        self._start = None
        self._kind = CutKind.PACKED

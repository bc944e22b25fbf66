"""Pack parts that are kept whole if they can be: sections for one strategy, blocks for another.

A part over the maximum is cut like any text, towards the target. Every size is that of the span itself, so
what stands between two parts is counted, and no sum can differ from what comes out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from transforms.chunkers.packing import pack_blocks
from transforms.model.chunk import Cut, CutKind
from transforms.model.document import Block, BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from transforms.chunkers.settings import ChunkSettings
    from transforms.chunkers.size import Measure


@dataclass(frozen=True, slots=True)
class Part:
    """Neighbouring blocks that belong together."""

    blocks: Sequence[Block]
    begins_chunk: bool = False
    """It never goes into the chunk of the part before."""

    @property
    def start(self) -> int:
        """Of the first block."""
        return self.blocks[0].start

    @property
    def end(self) -> int:
        """Of the last block."""
        return self.blocks[-1].end


def pack_parts(
    text: str, parts: Iterable[Part], settings: ChunkSettings, measure: Measure, *, look_ahead: bool
) -> list[Cut]:
    """Cuts of whole parts: ordered, disjoint, all ink covered.

    With ``look_ahead`` a chunk under the target takes the next part if the maximum allows; without, the
    chunk stays under the target. A chunk too small to stand alone joins the one behind it.
    """
    return _PartPacker(text, settings, measure, look_ahead=look_ahead).pack(parts)


class _PartPacker:
    def __init__(self, text: str, settings: ChunkSettings, measure: Measure, *, look_ahead: bool) -> None:
        self._text = text
        self._settings = settings
        self._size = settings.size
        self._measure = measure
        self._look_ahead = look_ahead
        self._floor = int(settings.size.min_fill * settings.size.target)
        self._cuts: list[Cut] = []
        self._running: list[Block] = []
        self._kind = CutKind.WHOLE
        self._begins = False
        """Nothing of the running chunk may join the chunk before."""

    def pack(self, parts: Iterable[Part]) -> list[Cut]:
        for part in parts:
            if self._running and not self._takes(part):
                self._close()
            if not self._running:
                self._begins, self._kind = part.begins_chunk, CutKind.WHOLE
            elif self._kind is CutKind.WHOLE:
                self._kind = CutKind.PACKED
            self._running += part.blocks
            if self._measure(part.start, part.end) > self._size.max:
                self._split()
        self._close()
        return self._cuts

    def _takes(self, part: Part) -> bool:
        """Whether the running chunk goes on with this part."""
        if part.begins_chunk:
            return False
        start, end = self._running[0].start, self._running[-1].end
        size, grown = self._measure(start, end), self._measure(start, part.end)
        if grown > self._size.max:
            # What is too small to stand alone goes along into a part that will be cut anyway.
            return self._is_runt(size) and self._measure(part.start, part.end) > self._size.max
        enough = size >= self._size.target if self._look_ahead else grown > self._size.target
        return not enough or self._is_runt(size)

    def _is_runt(self, size: int) -> bool:
        return self._size.merge_runts and size < self._floor

    def _split(self) -> None:
        """Cut what is running; an end too small to stand alone waits for the next part."""
        cuts = pack_blocks(self._text, self._running, self._settings, self._measure)
        self._running = []
        last = cuts[-1]
        if len(cuts) > 1 and self._is_runt(self._measure(last.start, last.end)):
            self._running = [Block(BlockKind.PARAGRAPH, last.start, last.end)]
            self._begins, self._kind = False, last.kind
            cuts = cuts[:-1]
        self._cuts += cuts

    def _close(self) -> None:
        if not self._running:
            return
        start, end = self._running[0].start, self._running[-1].end
        self._running = []
        before = self._cuts[-1] if self._cuts and not self._begins else None
        runt = self._is_runt(self._measure(start, end))
        if before and runt and self._measure(before.start, end) <= self._size.max:
            self._cuts[-1] = Cut(before.start, end, before.kind)
        else:
            self._cuts.append(Cut(start, end, self._kind))

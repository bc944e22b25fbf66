"""``records``: each row of a table is a chunk, and so is each other block; headings go with what follows them.

For tables and exports whose rows are things of their own. The header row is stored with the first row, and
embedded with every one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.chunkers.packing import pack_blocks
from transforms.model.chunk import Cut, CutKind
from transforms.model.document import Block, BlockKind
from transforms.structure.sentences import line_spans

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from transforms.chunkers.settings import ChunkSettings
    from transforms.chunkers.tools import Tools
    from transforms.model.document import Document

_HEADER_LINES = 2


def cut_records(document: Document, settings: ChunkSettings, tools: Tools) -> list[Cut]:
    """The document's chunks: ordered, disjoint, all ink covered, none without ink."""
    cuts: list[Cut] = []
    for record in _records(document.text, document.blocks):
        start, end = record[0].start, record[-1].end
        if tools.measure(start, end) <= settings.size.max:
            cuts.append(Cut(start, end, CutKind.WHOLE))
        else:
            cuts += pack_blocks(document.text, record, settings, tools.measure)
    return cuts


def _records(text: str, blocks: Sequence[Block]) -> Iterator[list[Block]]:
    led: list[Block] = []
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            led.append(block)
            continue
        for part in _rows(text, block):
            yield [*led, part]
            led = []
    if led:
        yield led


def _rows(text: str, block: Block) -> Iterator[Block]:
    if block.kind is not BlockKind.TABLE:
        yield block
        return
    lines = [
        (start, start + len(text[start:end].rstrip()))
        for start, end in line_spans(text, block.start, block.end)
    ]
    first = min(_HEADER_LINES, len(lines) - 1)
    yield block._replace(end=lines[first][1])
    for start, end in lines[first + 1 :]:
        yield block._replace(start=start, end=end)

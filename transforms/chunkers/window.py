"""``window``: whole blocks, packed up to the target without regard to sections; a heading goes with its text.

It slides in what is embedded: the composer carries the end of each chunk into the next, across headings
where ``overlap.across_headings`` is set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.chunkers.atomic import Part, pack_parts
from transforms.model.document import Block, BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from transforms.chunkers.settings import ChunkSettings
    from transforms.chunkers.tools import Tools
    from transforms.model.chunk import Cut
    from transforms.model.document import Document


def cut_window(document: Document, settings: ChunkSettings, tools: Tools) -> list[Cut]:
    """The document's chunks: ordered, disjoint, all ink covered, none without ink."""
    parts = [Part(blocks) for blocks in _led_blocks(document.blocks)]
    return pack_parts(document.text, parts, settings, tools.measure, look_ahead=False)


def _led_blocks(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Each block with the headings directly above it."""
    led: list[Block] = []
    for block in blocks:
        led.append(block)
        if block.kind is not BlockKind.HEADING:
            yield led
            led = []
    if led:
        yield led

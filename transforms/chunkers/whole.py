"""``whole``: the document is one chunk; only one over the maximum is cut, towards the target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.chunkers.packing import pack_blocks
from transforms.model.chunk import Cut, CutKind

if TYPE_CHECKING:
    from transforms.chunkers.settings import ChunkSettings
    from transforms.chunkers.tools import Tools
    from transforms.model.document import Document


def cut_whole(document: Document, settings: ChunkSettings, tools: Tools) -> list[Cut]:
    """One chunk from the first ink to the last, if it fits."""
    if not document.blocks:
        return []
    start, end = document.blocks[0].start, document.blocks[-1].end
    if tools.measure(start, end) <= settings.size.max:
        return [Cut(start, end, CutKind.WHOLE)]
    return pack_blocks(document.text, document.blocks, settings, tools.measure)

"""``verbatim``: slices of the document in order, cut at the best breaks that the size allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.chunkers.packing import pack_blocks

if TYPE_CHECKING:
    from transforms.chunkers.settings import ChunkSettings
    from transforms.chunkers.tools import Tools
    from transforms.model.chunk import Cut
    from transforms.model.document import Document


def cut_verbatim(document: Document, settings: ChunkSettings, tools: Tools) -> list[Cut]:
    """The document's chunks: ordered, disjoint, all ink covered, none without ink."""
    return pack_blocks(document.text, document.blocks, settings, tools.measure)

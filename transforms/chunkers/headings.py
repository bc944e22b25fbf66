"""``headings``: whole sections, packed with a look-ahead; only a section over the maximum is cut.

A section begins at each heading down to ``headings.split_level``. A heading without text of its own goes with
the section below it. With ``headings.strict`` every such heading begins a chunk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.chunkers.atomic import Part, pack_parts
from transforms.model.document import Block, BlockKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transforms.chunkers.settings import ChunkSettings
    from transforms.chunkers.tools import Tools
    from transforms.model.chunk import Cut
    from transforms.model.document import Document


def cut_headings(document: Document, settings: ChunkSettings, tools: Tools) -> list[Cut]:
    """The document's chunks: ordered, disjoint, all ink covered, none without ink."""
    headings = settings.headings
    parts = [
        Part(section, begins_chunk=headings.strict and _begins_section(section[0], headings.split_level))
        for section in split_sections(document.blocks, headings.split_level)
    ]
    return pack_parts(document.text, parts, settings, tools.measure, look_ahead=True)


def split_sections(blocks: Sequence[Block], split_level: int) -> list[list[Block]]:
    """Blocks by section; headings that stand above each other are in one, and blocks before all of them."""
    sections: list[list[Block]] = []
    bare = False
    for block in blocks:
        if block.kind is not BlockKind.HEADING:
            if not sections:
                sections.append([])
            bare = False
        elif not sections or (not bare and _begins_section(block, split_level)):
            sections.append([])
            bare = True
        sections[-1].append(block)
    return sections


def _begins_section(block: Block, split_level: int) -> bool:
    return block.kind is BlockKind.HEADING and block.level is not None and block.level <= split_level

"""Tables that stand inside lists and quotes, whose blocks are told as the whole that they stand in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from transforms.model.document import Block, BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterator

_DASHES = re.compile(r"\n[ \t>]*+\|?+(?:[ \t]*+:?-++:?+[ \t]*+\|)++(?:[ \t]*+:?-++:?+)?+[ \t]*+(?=\n|\Z)")
"""The line below a table's header, with the line break before it."""
_ROWS = re.compile(r"(?:\n[^\n|]*+\|[^\n]*+)*+")


def nested_tables(text: str, block: Block) -> Iterator[Block]:
    """The tables in a block that is none itself, from the margin of the header row to the last line with a bar."""
    if (
        block.kind not in (BlockKind.LIST, BlockKind.PARAGRAPH)
        or text.find("|", block.start, block.end) < 0
    ):
        return
    at = block.start
    while dashes := _DASHES.search(text, at, block.end):
        at = dashes.end()
        start = max(text.rfind("\n", block.start, dashes.start()) + 1, block.start)
        rows = _ROWS.match(text, at, block.end)
        if "|" in text[start : dashes.start()] and rows:
            at = rows.end()
            yield Block(BlockKind.TABLE, start, at)

"""Which blocks a PDF's text has: headings where its bookmarks are, tables, and paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from transforms.model.document import Block, BlockKind, Page
from transforms.structure.blocks import parse_blocks

_ROWS = re.compile(r"^\|.*\|\n\| ---(?: \| ---)* \|(?:\n\|.*\|)*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of the outline: its title, its level from 1, and its page from 1."""

    title: str
    level: int
    page: int


def pdf_blocks(text: str, pages: Sequence[Page], bookmarks: Sequence[Bookmark]) -> tuple[Block, ...]:
    """The blocks of a PDF's text: ordered, disjoint, holding all ink."""
    found = [Block(BlockKind.TABLE, rows.start(), rows.end()) for rows in _ROWS.finditer(text)]
    found += _headings(text, pages, bookmarks)
    blocks: list[Block] = []
    at = 0
    for block in sorted(found, key=lambda block: (block.start, -block.end)):
        if block.start >= at:
            blocks += [*_paragraphs(text, at, block.start), block]
            at = block.end
    return (*blocks, *_paragraphs(text, at, len(text)))


def _headings(text: str, pages: Sequence[Page], bookmarks: Sequence[Bookmark]) -> Iterator[Block]:
    """The lines of a page that say what a bookmark of that page says, numbering aside."""
    at = 0
    for bookmark in bookmarks:
        if not 1 <= bookmark.page <= len(pages):
            continue
        page = pages[bookmark.page - 1]
        words = r"\s+".join(map(re.escape, bookmark.title.split()))
        line = re.compile(rf"^[ \t]*(?:[\dIVXA-Z]+(?:\.\d+)*\.?\s+)?{words}[ \t]*$", re.MULTILINE)
        found = line.search(text, max(at, page.start), page.end) or line.search(text, page.start, page.end)
        if found:
            at = found.end()
            title = " ".join(found.group().split())
            start = found.start() + len(found.group()) - len(found.group().lstrip())
            end = start + len(found.group().strip())
            yield Block(BlockKind.HEADING, start, end, level=min(bookmark.level, 6), title=title)


def _paragraphs(text: str, start: int, end: int) -> Iterator[Block]:
    for block in parse_blocks(text[start:end], "plain"):
        yield Block(block.kind, block.start + start, block.end + start)

"""Which blocks a PDF's text has: headings, tables, lists and paragraphs.

Headings are where the bookmarks are. In a file without bookmarks they are the short lines that are set larger than
most of its text, each size a level.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from transforms.model.document import Block, BlockKind, Page
from transforms.structure.blocks import parse_blocks

if TYPE_CHECKING:
    from transforms.extractors.pdf_lines import Line, PageLines

_BULLET = re.compile(r"^[ \t]*[\u2022\u25cf\u25cb\u25e6\u25aa\u25a0\u2023\u2043][ \t]+(?=\S)", re.MULTILINE)
_LARGER = 1.12
"""Times the usual size: from here on it may be a heading, or one of another level."""
_SAME = 1.06
_MOST = 0.25
"""Share of the text that headings have at most."""
_TITLE_AT_MOST = 150
_NUMBERED = re.compile(
    r"(?:(?:chapter|part|section|appendix|kapitel|teil) )?(?:\d+|[IVX]+)(?:\.\d+)*[.:]? +\S", re.I
)
_LEADS_OVER = re.compile(
    r"(?:[-:,&\u2013\u2014/]|\b(?:a|an|and|by|for|from|in|of|on|or|the|to|with|und|oder|der|die|das|von|zur?|für)) *$",
    re.I,
)
_LINES_BELOW = 8
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


def large_lines(pages: Sequence[PageLines]) -> list[Bookmark]:
    """The short lines that are larger than the text, in order; none where much of the text is large."""
    counts: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            if line.size and not line.is_table:
                counts[line.size] += len(line.text)
    if not counts:
        return []
    usual = counts.most_common(1)[0][0]
    found = list(_titles(pages, usual * _LARGER))
    if sum(len(title.text) for title in found) > _MOST * counts.total():
        return []
    sizes: list[float] = []
    for size in sorted({title.size for title in found}, reverse=True):
        if not sizes or size * _LARGER < sizes[-1]:
            sizes.append(size)
    return [Bookmark(t.text, sum(size > t.size * _SAME for size in sizes) + 1, t.page) for t in found]


class _Title(NamedTuple):
    text: str
    size: float
    page: int


def _titles(pages: Sequence[PageLines], least: float) -> Iterator[_Title]:
    """Lines of at least that size, those of one size that go on in each other as one."""
    for number, page in enumerate(pages, 1):
        title: _Title | None = None
        above: Line | None = None
        for place, line in enumerate(page.lines):
            if title is not None and above is not None and _goes_on(above, line, page.lines[place + 1 :]):
                title = title._replace(text=f"{title.text} {line.text.strip()}")
            else:
                if title is not None and _is_title(title.text):
                    yield title
                is_large = not line.is_table and line.size >= least
                title = _Title(line.text.strip(), line.size, number) if is_large else None
            above = line
        if title is not None and _is_title(title.text):
            yield title


def _goes_on(above: Line, line: Line, below: Sequence[Line]) -> bool:
    """Whether a title goes on in the next line, and is no heading of its own.

    A line that ends where the next word had found room was ended on purpose: what begins there with a capital or a
    number is another title, unless the words lead over to it.
    """
    if line.is_table or line.top - above.bottom >= line.size / 2 or abs(line.size - above.size) >= 0.5:
        return False
    text = line.text.strip()
    if _NUMBERED.match(text):
        return False
    if not text[:1].isupper() or _LEADS_OVER.search(above.text):
        return True
    letter = (above.x1 - above.x0) / max(1, len(above.text.strip()))
    word = letter * (1 + len(text.split()[0]))
    return above.x1 - above.x0 + word > _room(above, below)


def _room(title: Line, below: Sequence[Line]) -> float:
    """The width of the next lines of text under a title; none where there are none."""
    text = [
        line
        for line in below[:_LINES_BELOW]
        if not line.is_table and line.x0 < title.x1 and line.x1 > title.x0
    ]
    return max((line.x1 for line in text), default=0.0) - min((line.x0 for line in text), default=0.0)


def _is_title(text: str) -> bool:
    return (
        len(text) <= _TITLE_AT_MOST
        and not _BULLET.match(text)
        and any(map(str.isalpha, text))
        and not text.endswith((",", ";"))
    )


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
    """Paragraphs; what begins at a line with a bullet is a list."""
    for block in parse_blocks(text[start:end], "plain"):
        first, last = block.start + start, block.end + start
        bullet = _BULLET.search(text, first, last)
        if bullet is None:
            yield Block(block.kind, first, last)
            continue
        if ink := text[first : bullet.start()].rstrip():
            yield Block(block.kind, first, first + len(ink))
        yield Block(BlockKind.LIST, bullet.start(), last)

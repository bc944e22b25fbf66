"""Blocks of a Markdown note as the fourth system was given them: spans, and the path of headings above."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from transforms.chunkers.compat.spans import Span, universal_lines
from transforms.model.document import BlockKind

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?!\S)")
_ITEM = re.compile(r"(?:[-*+]|\d+[.)])\s")

_GOES_ON: dict[BlockKind, frozenset[BlockKind]] = {
    BlockKind.HEADING: frozenset(),
    BlockKind.TABLE: frozenset({BlockKind.TABLE}),
    BlockKind.LIST: frozenset({BlockKind.LIST, BlockKind.PARAGRAPH}),
    BlockKind.PARAGRAPH: frozenset({BlockKind.PARAGRAPH}),
}


@dataclass(frozen=True, slots=True)
class NoteBlock:
    """A block, with the heading it stands under; a heading stands under itself."""

    kind: BlockKind
    start: int
    end: int
    level: int | None
    section_title: str | None
    """None before the first heading."""
    section_path: str
    """``/`` and all enclosing titles, the outermost first, joined by ``/``."""


def parse_note(text: str) -> list[NoteBlock]:
    """Blocks in order; all ink is in exactly one of them. Linear in the text."""
    blocks = []
    enclosing: list[tuple[int, str]] = []
    for kind, start, end in _blocks(text):
        level = None
        if kind is BlockKind.HEADING:
            level, title = _heading(text[start:end].strip())
            enclosing = [*(above for above in enclosing if above[0] < level), (level, title)]
        titles = [title for _, title in enclosing]
        path = "/" + "/".join(titles)
        blocks.append(NoteBlock(kind, start, end, level, titles[-1] if titles else None, path))
    return blocks


def _heading(line: str) -> tuple[int, str]:
    """Level and title; marks behind the title are no part of it if white space parts them from it."""
    body = line.lstrip("#")
    title = body.rstrip("#")
    if title and not title[-1].isspace():
        title = body
    return len(line) - len(body), title.strip()


def _blocks(text: str) -> Iterator[tuple[BlockKind, int, int]]:
    """Kind and span of each block: a line begins one, and takes along the lines that go on with it."""
    lines = universal_lines(text)
    kinds = [_kind(text[start:end]) for start, end in lines]
    place = 0
    while place < len(lines):
        kind = kinds[place]
        if kind is None:
            place += 1
            continue
        is_code = kind is BlockKind.CODE
        after = _after_fence(text, lines, place) if is_code else _after(kinds, place, _GOES_ON[kind])
        start, end = lines[place][0], lines[after - 1][1]
        yield kind, start, start + len(text[start:end].rstrip())
        place = after


def _kind(line: str) -> BlockKind | None:
    """The kind of block that a line begins; None for a blank line."""
    if not line or line.isspace():
        return None
    if _FENCE.match(line):
        return BlockKind.CODE
    if _HEADING.match(line):
        return BlockKind.HEADING
    if line.startswith("|"):
        return BlockKind.TABLE
    return BlockKind.LIST if _ITEM.match(line) else BlockKind.PARAGRAPH


def _after(kinds: Sequence[BlockKind | None], place: int, goes_on: Container[BlockKind | None]) -> int:
    """The place behind the lines that go on with the block that begins at ``place``."""
    place += 1
    while place < len(kinds) and kinds[place] in goes_on:
        place += 1
    return place


def _after_fence(text: str, lines: Sequence[Span], place: int) -> int:
    """The place behind the closing fence: the same mark, at least as often, nothing else; or the end."""
    start, end = lines[place]
    opening = _FENCE.match(text, start, end)
    marks = opening[1] if opening else ""
    for after, (start, end) in enumerate(lines[place + 1 :], start=place + 2):
        closing = _FENCE.match(text, start, end)
        if closing and not text[closing.end() : end].strip() and closing[1].startswith(marks):
            return after
    return len(lines)

"""Writes Markdown from the parts of a structured file: the one form in which they become canonical text.

Prose is written as people read it; a mark is escaped only at the start of a line, where it would make a
heading, a fence or a rule of what was none. A table is pipe rows; the caller repeats merged cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeAlias

from transforms.extractors.header_rows import MOST_HEADERS, one_header
from transforms.extractors.letters import readable
from transforms.model.document import Page, canonical_text

_MARKS_AT_LINE_START = re.compile(
    r"^(?=#{1,6}(?:[ \t]|$)|`{3}|~{3}|(?:=+|-+|[*_]{3,})[ \t]*$)", re.MULTILINE
)
_CLOSING_MARKS = re.compile(r"(?<=[ \t])(?=#+$)")
_LINE_EDGES = re.compile(r"[ \t\u00a0]*\n[ \t\u00a0\n]*")
_PIPE = re.compile(r"(?<!\\)\|")
_BACKTICKS = re.compile(r"^[ \t]*(`{3,})", re.MULTILINE)


class MarkdownWriter:
    """Collects blocks in reading order; blank ones leave no trace."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._in_list = False
        self._markers: list[int] = []
        self._page_starts: list[tuple[int, int, str | None]] = []
        self._new_page: tuple[int, str | None] | None = None

    def heading(self, level: int, text: str) -> None:
        """A heading; levels beyond 6 are written as 6."""
        line = _CLOSING_MARKS.sub(r"\\", one_line(text))
        if line:
            self._add(f"{'#' * min(max(level, 1), 6)} {line}")

    def paragraph(self, text: str) -> None:
        """A paragraph; line breaks in it stay, blank lines do not."""
        self._add(_prose(text))

    def item(self, text: str, depth: int = 0, number: int | None = None) -> None:
        """An item of a list at a depth from 0; items that follow each other are one list."""
        body = _prose(text)
        if not body:
            return
        marker = "- " if number is None else f"{number}. "
        outer = [*self._markers, *[2] * depth][:depth] if self._in_list else [2] * depth
        indent = sum(outer) if self._in_list else 0
        pad = "\n" + " " * (indent + len(marker))
        self._add(f"{' ' * indent}{marker}{body.replace(chr(10), pad)}", in_list=True)
        self._markers = [*outer, len(marker)]

    def table(self, rows: Iterable[Sequence[str]], headers: int = 1) -> None:
        """A table whose first row is its head; rows and columns without ink are left out.

        Of several ``headers`` one is made, and titles over all columns are paragraphs before it.
        """
        rows = list(rows)
        if 1 < headers <= MOST_HEADERS and headers < len(rows):
            titles, header = one_header(rows[:headers])
            rows[:headers] = [header]
            for title in titles:
                self.paragraph(title)
        cells = [[_cell(cell) for cell in row] for row in rows]
        cells = [row for row in cells if any(row)]
        if not cells:
            return
        width = max(map(len, cells))
        cells = [[*row, *[""] * (width - len(row))] for row in cells]
        used = [column for column in range(width) if any(row[column] for row in cells)]
        lines = [_row(row[column] for column in used) for row in cells]
        lines.insert(1, _row("---" for _ in used))
        self._add("\n".join(lines))

    def code(self, text: str, language: str = "") -> None:
        """Code, as it is, in a fence that nothing in it closes."""
        body = canonical_text(text).strip("\n").rstrip()
        if body.strip():
            longest = max((len(run) for run in _BACKTICKS.findall(body)), default=2)
            fence = "`" * max(3, longest + 1)
            self._add(f"{fence}{language}\n{body}\n{fence}")

    def markdown(self, text: str) -> None:
        """Markdown that was written elsewhere, as it is."""
        self._add(canonical_text(text).strip("\n").rstrip())

    def page(self, number: int, label: str | None = None) -> None:
        """What follows is on this page; a page on which nothing follows is not listed."""
        self._new_page = (number, label)

    @property
    def text(self) -> str:
        """All that was written, with a line break at its end; empty if nothing was."""
        return "".join([*self._parts, "\n"]) if self._parts else ""

    @property
    def pages(self) -> tuple[Page, ...]:
        """The pages' spans: each ends where the next begins."""
        starts = [*self._page_starts, (self._length, 0, None)]
        return tuple(
            Page(start, end, number, label) for (start, number, label), (end, _, _) in pairwise(starts)
        )

    def _add(self, text: str, *, in_list: bool = False) -> None:
        if not text.strip():
            return
        if self._parts:
            self._put("\n" if in_list and self._in_list and not self._new_page else "\n\n")
        if self._new_page:
            self._page_starts.append((self._length, *self._new_page))
            self._new_page = None
        self._put(text)
        self._in_list = in_list

    def _put(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)


Written: TypeAlias = tuple[MarkdownWriter, tuple[str, ...]]
"""What a reader has written of a file, and its warnings."""


def one_line(text: str) -> str:
    """A text with each run of white space made one space, its letters made readable."""
    return " ".join(readable(canonical_text(text)).split())


def _prose(text: str) -> str:
    lines = _LINE_EDGES.sub("\n", readable(canonical_text(text)).strip())
    return _MARKS_AT_LINE_START.sub(r"\\", lines)


def _cell(text: str) -> str:
    line = one_line(text)
    return _PIPE.sub(r"\|", line) if "|" in line else line


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"

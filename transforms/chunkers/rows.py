"""What is embedded for a row of a table by a template of its columns."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from transforms.model.document import BlockKind

if TYPE_CHECKING:
    from transforms.model.document import Document

_COLUMN = re.compile(r"\{([^{}]+)\}")
_BAR = re.compile(r"(?<!\\)\|")


def template_columns(template: str) -> tuple[str, ...]:
    """The columns that a template names."""
    return tuple(dict.fromkeys(_COLUMN.findall(template)))


class RowTemplate:
    """Fills a template with the cells of a document's rows."""

    def __init__(self, document: Document, template: str) -> None:
        self._text, self._template = document.text, template
        self._columns = template_columns(template)
        self._tables = [block for block in document.blocks if block.kind is BlockKind.TABLE]
        self._starts = [table.start for table in self._tables]

    def filled(self, start: int, end: int) -> str:
        """The template for the row that ``text[start:end]`` ends with; empty where it does not end with one row."""
        place = bisect_right(self._starts, end) - 1
        if place < 0 or not self._tables[place].start < end <= self._tables[place].end:
            return ""
        table, text = self._tables[place], self._text
        header_end = text.find("\n", table.start, table.end)
        rows = text.find("\n", header_end + 1, table.end) + 1
        row = max(start, rows)
        if not rows or header_end < 0 or row >= end or text[row - 1] != "\n" or "\n" in text[row:end]:
            return ""
        if end < table.end and text[end] != "\n":
            return ""
        cells = dict(zip(_cells(text[table.start : header_end]), _cells(text[row:end]), strict=False))
        if not set(self._columns) <= set(cells):
            return ""
        return _COLUMN.sub(lambda column: cells[column[1]], self._template)


def _cells(row: str) -> list[str]:
    cells = [cell.strip().replace("\\|", "|") for cell in _BAR.split(row.strip())]
    return cells[1 if cells and not cells[0] else 0 : -1 if cells and not cells[-1] else None]

"""Finds ruled tables with pdfplumber's finder, from lines and characters that anything may have read.

A merged cell is repeated in each place that it covers. What has one row or one column of ink, or long prose
in its cells, is a frame around text and no table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from transforms.extractors.text import pipe_row

if TYPE_CHECKING:
    from pdfplumber.table import Table

Box: TypeAlias = tuple[float, float, float, float]
"""Left, top, right and bottom, in points from the top left."""

_GAP = 0.25
"""Of a letter's size: a wider gap parts words."""
_ROWS_AT_LEAST = 3
_LONG_CELL = 400
"""Characters of an average cell from which on it is a frame of a layout."""


class Edge(NamedTuple):
    """A horizontal or vertical line."""

    x0: float
    top: float
    x1: float
    bottom: float

    @property
    def is_vertical(self) -> bool:
        return self.x0 == self.x1


@dataclass(frozen=True, slots=True)
class Geometry:
    """What is drawn on a page."""

    edges: Sequence[Edge]
    characters: Sequence[tuple[str, Box]]
    width: float
    height: float


def find_tables(geometry: Geometry) -> list[tuple[Box, str]]:
    """The tables of a page: where each is, and its pipe rows; a table inside a cell is part of the outer."""
    found: list[tuple[Box, str]] = []
    for table in finder_tables(geometry):
        rows = table_rows(table)
        if is_table(rows) and not any(_inside(table.bbox, box) for box, _ in found):
            found.append((table.bbox, pipe_table(rows)))
    return found


def finder_tables(geometry: Geometry) -> list[Table]:
    """What pdfplumber's finder takes for tables, frames included."""
    from pdfplumber.table import TableFinder

    return list(TableFinder(_Page(geometry)).tables)  # type: ignore[arg-type]


def table_rows(table: Table) -> list[list[str]]:
    """The cells of pdfplumber's table as text, merged ones repeated.

    A ruled row is several rows where its cells, three or more, all have the same number of lines, three or
    more: as in tables that are ruled after every fifth row.
    """
    texts = table.extract(x_tolerance_ratio=_GAP)
    cells = {
        cell: text or ""
        for row, line in zip(table.rows, texts, strict=True)
        for cell, text in zip(row.cells, line, strict=True)
        if cell is not None
    }
    lefts = sorted({cell[0] for cell in cells})
    rows: list[list[str]] = []
    for row, line in zip(table.rows, texts, strict=True):
        top = row.bbox[1]
        whole = [
            _covering(cells, left, top) if text is None else text
            for left, text in zip(lefts, line, strict=True)
        ]
        rows += [[" ".join(text.split()) for text in part] for part in _parted(whole)]
    return rows


def pipe_table(rows: Sequence[Sequence[str]]) -> str:
    """Rows with pipes, the first as the head; columns without ink are left out."""
    used = [column for column in range(len(rows[0])) if any(row[column].strip() for row in rows)]
    lines = [pipe_row([row[column] for column in used]) for row in rows if any(map(str.strip, row))]
    lines.insert(1, pipe_row(["---"] * len(used)))
    return "\n".join(lines)


def _parted(row: list[str]) -> list[list[str]]:
    lines = [text.strip().split("\n") for text in row]
    counts = {len(own) for own, text in zip(lines, row, strict=True) if text.strip()}
    inked = sum(bool(text.strip()) for text in row)
    if len(counts) != 1 or inked < _ROWS_AT_LEAST or (count := counts.pop()) < _ROWS_AT_LEAST:
        return [row]
    padded = [own if len(own) == count else [""] * count for own in lines]
    return [list(part) for part in zip(*padded, strict=True)]


def _covering(cells: dict[Box, str], left: float, top: float) -> str:
    """The text of the cell that covers the place right below a corner; empty where there is none."""
    for (x0, y0, x1, y1), text in cells.items():
        if x0 <= left < x1 and y0 <= top < y1:
            return text
    return ""


def is_table(rows: Sequence[Sequence[str]]) -> bool:
    """Whether there is ink in several rows and columns, and no long prose in the cells."""
    inked_rows = sum(any(row) for row in rows)
    inked_columns = sum(any(column) for column in zip(*rows, strict=True))
    texts = [text for row in rows for text in row if text]
    return inked_rows > 1 and inked_columns > 1 and sum(map(len, texts)) < _LONG_CELL * len(texts)


def _inside(inner: Box, outer: Box) -> bool:
    return inner[0] >= outer[0] and inner[1] >= outer[1] and inner[2] <= outer[2] and inner[3] <= outer[3]


class _Page:
    """As much of pdfplumber's page as its finder looks at."""

    def __init__(self, geometry: Geometry) -> None:
        self.bbox = (0, 0, geometry.width, geometry.height)
        self.edges = [
            {
                "object_type": "line",
                "x0": edge.x0,
                "x1": edge.x1,
                "top": edge.top,
                "bottom": edge.bottom,
                "doctop": edge.top,
                "width": edge.x1 - edge.x0,
                "height": edge.bottom - edge.top,
                "orientation": "v" if edge.is_vertical else "h",
            }
            for edge in geometry.edges
        ]
        self.chars = [
            {
                "text": text,
                "x0": box[0],
                "top": box[1],
                "x1": box[2],
                "bottom": box[3],
                "doctop": box[1],
                "upright": True,
                "width": box[2] - box[0],
                "height": box[3] - box[1],
                "size": box[3] - box[1],
            }
            for text, box in geometry.characters
        ]

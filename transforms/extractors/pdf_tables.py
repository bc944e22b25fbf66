"""Finds ruled tables with pdfplumber's finder, from lines and characters that anything may have read.

A merged cell is repeated in each place that it covers. What has one row or one column of ink, or long prose
in its cells, is a frame around text and no table.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
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


class Written(NamedTuple):
    """A table as text, and where it is."""

    box: Box
    text: str


def ruled_tables(edges: Sequence[Edge], width: float, height: float) -> list[Table]:
    """What pdfplumber's finder takes for tables, frames included, of a page of that size."""
    from pdfplumber.table import TableFinder

    return list(TableFinder(_Page(edges, width, height)).tables)  # type: ignore[arg-type]


def written_tables(
    tables: Sequence[Table], characters: Mapping[int, tuple[str, Box]]
) -> tuple[list[Written], dict[int, int]]:
    """The tables among ``tables`` as pipe rows, and which of them holds each character.

    Characters come by their position in the page's text. One that is in no cell is in no table, even where
    the table is around it; a table inside a cell is part of the outer.
    """
    written: list[Written] = []
    holders: dict[int, int] = {}
    for table in tables:
        if any(_inside(table.bbox, other.box) for other in written):
            continue
        texts, positions = cell_texts(table, characters)
        rows = table_rows(table, texts)
        if is_table(rows):
            holders.update(dict.fromkeys(positions, len(written)))
            written.append(Written(table.bbox, pipe_table(rows)))
    return written, holders


def cell_texts(
    table: Table, characters: Mapping[int, tuple[str, Box]]
) -> tuple[list[list[str | None]], list[int]]:
    """The text of each cell, row by row, None where there is no cell; and the positions of all in them.

    The same as the table's own method makes of characters, without asking each cell for each character.
    """
    from pdfplumber.utils.text import extract_text

    rows = [row.cells for row in table.rows]
    tops = [row.bbox[1] for row in table.rows]
    inside: dict[tuple[int, int], list[dict[str, object]]] = {}
    positions = []
    for position, (text, box) in characters.items():
        place = _cell_at(rows, tops, (box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
        if place is not None:
            inside.setdefault(place, []).append(_character(text, box))
            positions.append(position)
    texts = [
        [
            None if cell is None else _text(extract_text, inside.get((number, column)))
            for column, cell in enumerate(row)
        ]
        for number, row in enumerate(rows)
    ]
    return texts, positions


def table_rows(table: Table, texts: Sequence[Sequence[str | None]]) -> list[list[str]]:
    """The texts of a table's cells as rows of one width, merged cells repeated.

    A ruled row is several rows where its cells, three or more, all have the same number of lines, three or
    more: as in tables that are ruled after every fifth row.
    """
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


def _cell_at(
    rows: Sequence[Sequence[Box | None]], tops: Sequence[float], x: float, y: float
) -> tuple[int, int] | None:
    """Row and column of the cell around a point; a merged cell may begin rows above it."""
    for number in range(bisect_right(tops, y) - 1, -1, -1):
        for column, cell in enumerate(rows[number]):
            if cell is not None and cell[0] <= x < cell[2] and cell[1] <= y < cell[3]:
                return number, column
    return None


def _text(extract_text: Callable[..., str], characters: list[dict[str, object]] | None) -> str:
    return extract_text(characters, x_tolerance_ratio=_GAP) if characters else ""


def _character(text: str, box: Box) -> dict[str, object]:
    """A character as pdfplumber has it."""
    x0, top, x1, bottom = box
    height = bottom - top
    return {
        "text": text, "x0": x0, "top": top, "x1": x1, "bottom": bottom, "doctop": top,
        "upright": True, "width": x1 - x0, "height": height, "size": height,
    }  # fmt: skip


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

    def __init__(self, edges: Sequence[Edge], width: float, height: float) -> None:
        self.bbox = (0, 0, width, height)
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
            for edge in edges
        ]

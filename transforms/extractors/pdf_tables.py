"""Finds ruled tables with pdfplumber's finder, from lines and characters that anything may have read.

A merged cell is repeated in each place that it covers. What has one row or one column of ink, or long prose
in its cells, is a frame around text and no table.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from transforms.extractors.pdf_cells import Box, cell_texts
from transforms.extractors.text import pipe_row

if TYPE_CHECKING:
    from pdfplumber.table import Table

Point: TypeAlias = tuple[float, float]

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
    from pdfplumber import table

    page, settings = _Page(edges, width, height), table.TableSettings.resolve(None)
    finder = SimpleNamespace(page=page, settings=settings)
    lines = table.TableFinder.get_edges(finder)  # type: ignore[arg-type]
    crossings = table.edges_to_intersections(
        lines, settings.intersection_x_tolerance, settings.intersection_y_tolerance
    )
    groups = table.cells_to_tables(list(crossing_cells(crossings)))
    return [table.Table(page, cells) for cells in groups]  # type: ignore[arg-type]


def crossing_cells(crossings: Mapping[Point, Mapping[str, Sequence[Mapping[str, Any]]]]) -> Iterator[Box]:
    """The smallest rectangle that begins at each crossing of lines, if there is one.

    The same as pdfplumber's ``intersections_to_cells``, which looks through all crossings for each.
    """
    upright = {point: {id(edge) for edge in lines["v"]} for point, lines in crossings.items()}
    level = {point: {id(edge) for edge in lines["h"]} for point, lines in crossings.items()}
    by_column: defaultdict[float, list[Point]] = defaultdict(list)
    by_row: defaultdict[float, list[Point]] = defaultdict(list)
    for point in sorted(crossings):
        by_column[point[0]].append(point)
        by_row[point[1]].append(point)
    for point in sorted(crossings):
        below = _after(point, by_column[point[0]], upright)
        right = _after(point, by_row[point[1]], level) if below else []
        corners = ((corner, end, (end[0], corner[1])) for corner in below for end in right)
        for corner, end, last in corners:
            if last in crossings and upright[last] & upright[end] and level[last] & level[corner]:
                yield *point, *last
                break


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
    tops = sorted({cell[1] for cell in cells})
    merged = [(cell, text) for cell, text in cells.items() if _reaches_over(cell, lefts, tops)]
    rows: list[list[str]] = []
    for row, line in zip(table.rows, texts, strict=True):
        top = row.bbox[1]
        whole = [
            _covering(merged, left, top) if text is None else text
            for left, text in zip(lefts, line, strict=True)
        ]
        rows += [[" ".join(text.split()) for text in part] for part in _parted(whole)]
    return rows


def _after(point: Point, others: Sequence[Point], lines: Mapping[Point, set[int]]) -> list[Point]:
    """The crossings after one in its row or column that a line joins to it."""
    return [other for other in others[bisect_right(others, point) :] if lines[other] & lines[point]]


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


def _reaches_over(cell: Box, lefts: Sequence[float], tops: Sequence[float]) -> bool:
    """Whether a cell covers places where others begin."""
    x0, y0, x1, y1 = cell
    right, below = bisect_right(lefts, x0), bisect_right(tops, y0)
    return (right < len(lefts) and lefts[right] < x1) or (below < len(tops) and tops[below] < y1)


def _covering(merged: Sequence[tuple[Box, str]], left: float, top: float) -> str:
    """The text of the cell that covers the place right below a corner; empty where there is none."""
    for (x0, y0, x1, y1), text in merged:
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

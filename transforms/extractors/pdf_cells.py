"""The text of each cell of a ruled table, from characters with places: as pdfplumber gives it, only sooner.

A cell's lines and words are told by the same distances as pdfplumber tells them. Its own function is asked where
a line slopes or carries small raised letters, so that what belongs to one line depends on the order of asking.
Cells with letters that run from right to left keep the order of the page's text: by their places alone their
words would be reversed.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pdfplumber.table import Table

Box: TypeAlias = tuple[float, float, float, float]
"""Left, top, right and bottom, in points from the top left."""
Character: TypeAlias = tuple[int, str, Box]
"""Its position in the page's text, what it is, and where."""

GAP = 0.25
"""Of a letter's size: a wider gap parts words."""
_LINE = 3
"""Points by which the tops of one line's letters differ at most: pdfplumber's own."""


def cell_texts(
    table: Table, characters: Mapping[int, tuple[str, Box]]
) -> tuple[list[list[str | None]], list[int]]:
    """The text of each cell, row by row, None where there is no cell; and the positions of all in them."""
    rows = [_Row([cell for cell in row.cells if cell is not None]) for row in table.rows]
    tops = [row.bbox[1] for row in table.rows]
    inside: dict[Box, list[Character]] = {}
    for position, (text, box) in characters.items():
        cell = _cell_at(rows, tops, (box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
        if cell is not None:
            inside.setdefault(cell, []).append((position, text, box))
    texts = [
        [None if cell is None else cell_text(inside.get(cell, ())) for cell in row.cells]
        for row in table.rows
    ]
    return texts, [position for found in inside.values() for position, _, _ in found]


def cell_text(characters: Sequence[Character]) -> str:
    """The text of the characters of one cell, its lines parted by line breaks."""
    if not characters:
        return ""
    if any(
        not text.isascii() and unicodedata.bidirectional(text[:1]) in ("R", "AL")
        for _, text, _ in characters
    ):
        return _in_text_order(characters)
    lines = list(_lines(characters))
    if any(line[-1][2][1] - line[0][2][1] > _LINE for line in lines):
        return _by_pdfplumber(characters)
    return "\n".join(" ".join(_words(line)) for line in lines if not _is_blank(line))


class _Row:
    """The cells of a row from left to right."""

    __slots__ = ("cells", "lefts")

    def __init__(self, cells: Sequence[Box]) -> None:
        self.cells = sorted(cells)
        self.lefts = [cell[0] for cell in self.cells]


def _cell_at(rows: Sequence[_Row], tops: Sequence[float], x: float, y: float) -> Box | None:
    """The cell around a point; a merged cell may begin rows above it."""
    for number in range(bisect_right(tops, y) - 1, -1, -1):
        row = rows[number]
        place = bisect_right(row.lefts, x) - 1
        if place >= 0:
            cell = row.cells[place]
            if x < cell[2] and cell[1] <= y < cell[3]:
                return cell
    return None


def _lines(characters: Sequence[Character]) -> Iterator[list[Character]]:
    """Characters by the height of their tops; each line in order of its tops."""
    line: list[Character] = []
    for character in sorted(characters, key=_top):
        if line and _top(character) > _top(line[-1]) + _LINE:
            yield line
            line = []
        line.append(character)
    yield line


def _words(line: list[Character]) -> Iterator[str]:
    """The words of a line, from left to right."""
    word, right, size = "", 0.0, 0.0
    for _, text, box in sorted(line, key=_from_left):
        if text.isspace():
            if word:
                yield word
            word = ""
            continue
        if word and box[0] > right + GAP * size:
            yield word
            word = ""
        word += text
        right, size = box[2], box[3] - box[1]
    if word:
        yield word


def _is_blank(line: list[Character]) -> bool:
    return all(text.isspace() for _, text, _ in line)


def _in_text_order(characters: Sequence[Character]) -> str:
    """As the page's text has them; where it has something between two that has no place, there is a space."""
    text, after = "", None
    for position, own, _ in sorted(characters, key=itemgetter(0)):
        if after is not None and position > after:
            text += " "
        text += own
        after = position + 1
    return " ".join(text.split())


def _by_pdfplumber(characters: Sequence[Character]) -> str:
    from pdfplumber.utils.text import extract_text

    made = [
        {
            "text": text, "x0": x0, "top": top, "x1": x1, "bottom": bottom, "doctop": top,
            "upright": True, "width": x1 - x0, "height": bottom - top, "size": bottom - top,
        }
        for _, text, (x0, top, x1, bottom) in characters
    ]  # fmt: skip
    return str(extract_text(made, x_tolerance_ratio=GAP))


def _top(character: Character) -> float:
    return character[2][1]


def _from_left(character: Character) -> tuple[float, int]:
    return character[2][0], character[0]

"""Closes the gaps of sheets that are nearly empty, which the reader holds from the first to the last cell.

One stray cell at the far end makes a sheet of 17 billion cells. Of rows and columns without a value one stays
in place of many, so that what stood apart still does.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection, Iterable, Iterator
from typing import TypeAlias

from lxml import etree

from transforms.extractors.inflate import Archive
from transforms.extractors.safe_xml import Element, local_name, parse_xml
from transforms.extractors.xlsx_cells import with_errors_as_text

Places: TypeAlias = dict[int, int]
"""New numbers of rows or columns by old ones, from 1."""

_VALUES = ("v", "is")


def rewritten(archive: Archive, spread: Collection[str], faulty: Collection[str]) -> tuple[bytes, int]:
    """The workbook with the gaps of the sheets in ``spread`` closed, and the errors of those in ``faulty`` as texts.

    Returns:
        It, and the most cells that a sheet whose gaps were closed still spans.

    Raises:
        RejectedError: ``corrupt``, where a sheet is no XML.
    """
    out = io.BytesIO()
    most = 0
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as workbook:
        for name in archive.names:
            data = archive.read(name)
            if name in faulty:
                data = with_errors_as_text(data)
            if name in spread:
                root = parse_xml(data, f"{name!r} in the XLSX")
                most = max(most, _close_gaps(root))
                data = etree.tostring(root, encoding="utf-8")
            workbook.writestr(name, data)
    return out.getvalue(), most


def _close_gaps(root: Element) -> int:
    """Move the cells that have values together; the number of cells from the first to the last place."""
    cells = [(row, column, cell) for row, column, cell in _cells(root) if _has_value(cell)]
    rows = _places(row for row, _, _ in cells)
    columns = _places(column for _, column, _ in cells)
    _rewrite(root, cells, rows, columns)
    _move_merged(root, rows, columns)
    return max(rows.values(), default=0) * max(columns.values(), default=0)


def _cells(root: Element) -> Iterator[tuple[int, int, Element]]:
    """Each cell with its row and column; those without a reference follow the last one."""
    row = 0
    for line in root.iter("{*}row"):
        stated = line.get("r", "")
        row = int(stated) if stated.isdecimal() else row + 1
        column = 0
        for cell in line.iterchildren("{*}c"):
            found = _position(cell.get("r", ""))
            column = found[1] if found else column + 1
            yield (found[0] if found else row), column, cell


def _has_value(cell: Element) -> bool:
    return any(local_name(child) in _VALUES for child in cell)


def _places(used: Iterable[int]) -> Places:
    places: Places = {}
    last = place = 0
    for number in sorted(set(used)):
        place += min(number - last, 2) if last else 1
        places[number] = place
        last = number
    return places


def _rewrite(root: Element, cells: list[tuple[int, int, Element]], rows: Places, columns: Places) -> None:
    """Leave only these cells in the sheet, in rows of their new numbers."""
    data = next(root.iter("{*}sheetData"), None)
    if data is None:
        return
    namespace = etree.QName(data).namespace
    data.clear()
    lines: dict[int, Element] = {}
    for row, column, cell in sorted(cells, key=lambda found: found[:2]):
        line = lines.get(row)
        if line is None:
            line = lines[row] = etree.SubElement(data, etree.QName(namespace, "row").text, r=str(rows[row]))
        cell.set("r", f"{_letters(columns[column])}{rows[row]}")
        line.append(cell)
    for size in root.findall("{*}dimension"):
        root.remove(size)


def _move_merged(root: Element, rows: Places, columns: Places) -> None:
    for merged in list(root.iter("{*}mergeCell")):
        first, _, last = merged.get("ref", "").partition(":")
        start, end = _position(first), _position(last or first)
        down = _within(rows, start[0], end[0]) if start and end else []
        across = _within(columns, start[1], end[1]) if start and end else []
        if down and across:
            merged.set("ref", f"{_letters(across[0])}{down[0]}:{_letters(across[-1])}{down[-1]}")
        else:
            parent = merged.getparent()
            if parent is not None:
                parent.remove(merged)


def _within(places: Places, first: int, last: int) -> list[int]:
    """The new numbers of what was from ``first`` to ``last``, if the first has a value."""
    if first not in places:
        return []
    return sorted(place for number, place in places.items() if first <= number <= last)


def _position(reference: str) -> tuple[int, int] | None:
    """Row and column of a reference like ``B12``, from 1."""
    letters = reference.rstrip("0123456789")
    digits = reference[len(letters) :]
    if not letters.isalpha() or not letters.isascii() or not digits:
        return None
    column = 0
    for letter in letters.upper():
        column = column * 26 + ord(letter) - ord("A") + 1
    return int(digits), column


def _letters(column: int) -> str:
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters

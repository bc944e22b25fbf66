"""Reads workbooks: a sheet is a heading and its cells are pipe tables, parted where a row is blank.

Cells show values: results as they were last computed, errors too, dates in ISO form, merged cells repeated in each
place they cover. Formulas that were never computed show nothing, and a warning counts them. Hidden sheets are kept and
marked. Left out are formulas, charts, comments and formats.
"""

from __future__ import annotations

import datetime
import decimal
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from transforms.extractors.inflate import Archive
from transforms.extractors.markdown_writer import MarkdownWriter, Written
from transforms.extractors.safe_xml import has_doctype
from transforms.extractors.xlsx_cells import CellFacts
from transforms.extractors.xlsx_sparse import rewritten
from transforms.model.errors import RejectedError

if TYPE_CHECKING:
    import pandas as pd

Range: TypeAlias = tuple[tuple[int, int], tuple[int, int]]
"""First and last cell, each as row and column from 0."""

HIDDEN_MARK = "(hidden)"
UNCOMPUTED = "formulas_without_values"
"""Warning with a count: cells that show nothing until a program computes them."""

MAX_CELLS = 20_000_000
"""Cells from the first to the last of a sheet, its gaps closed: the reader holds all of them, 32 bytes a cell."""

_MANY_CELLS = 2_000_000
"""From here on the gaps of a sheet are closed before it is read: it may be nearly empty."""
_REFERENCE = re.compile(rb"""\br\s*=\s*["']([A-Z]*)([0-9]{1,9})["']""")
_LONGEST_REFERENCE = 32
_EXACT = 10**17
"""Up to here the digits of a whole number are those that the file has."""
_SCIENTIFIC = 10**21
_NOISE = datetime.timedelta(microseconds=500_000)


@dataclass(slots=True)
class _Facts:
    """What decides how a workbook is read."""

    has_merged_cells: bool = False
    """Whether any sheet may have some."""
    spread: dict[str, tuple[int, int]] = field(default_factory=dict)
    """The last row and column of those sheets that span many cells."""
    faulty: list[str] = field(default_factory=list)
    """The sheets in which a cell shows an error."""
    uncomputed: int = 0


def read_xlsx(data: bytes, archive: Archive) -> Written:
    """The sheets of a workbook in order, and warnings; ``archive`` is the same bytes, opened with caps.

    Raises:
        RejectedError: ``corrupt``, ``encrypted``, ``decompression_bomb`` or ``too_large``.
    """
    facts = _inspect(archive)
    if facts.spread or facts.faulty:
        data = _rewritten(archive, facts)
    out = MarkdownWriter()
    for title, frame, merged in _sheets(data, with_merged=facts.has_merged_cells):
        _write(title, _texts(frame, merged), out)
    return out, (f"{UNCOMPUTED}={facts.uncomputed}",) if facts.uncomputed else ()


def _sheets(data: bytes, *, with_merged: bool) -> Iterator[tuple[str, pd.DataFrame, Iterable[Range]]]:
    """Each sheet's title, its cells and its merged ranges; asking for those reads the sheet once more."""
    import pandas as pd
    from python_calamine import CalamineError, PasswordError, SheetVisibleEnum

    try:
        with pd.ExcelFile(io.BytesIO(data), engine="calamine") as workbook:
            shown = {sheet.name: sheet.visible for sheet in workbook.book.sheets_metadata}
            for name in map(str, workbook.sheet_names):
                frame = pd.read_excel(workbook, sheet_name=name, header=None, dtype=object, na_filter=False)
                merged: Iterable[Range] = ()
                if with_merged:
                    merged = workbook.book.get_sheet_by_name(name).merged_cell_ranges or ()
                is_hidden = shown[name] != SheetVisibleEnum.Visible
                yield f"{name} {HIDDEN_MARK}" if is_hidden else name, frame, merged
    except PasswordError as error:
        raise RejectedError("encrypted", "The XLSX is behind a password; save it without one.") from error
    except (CalamineError, ValueError, IndexError, OverflowError) as error:
        raise RejectedError("corrupt", f"The XLSX cannot be read: {error}.") from error


def _rewritten(archive: Archive, facts: _Facts) -> bytes:
    """The workbook as the reader can read it, if the sheets whose gaps are closed are small enough then."""
    data, cells = rewritten(archive, facts.spread, facts.faulty)
    if cells > MAX_CELLS:
        row, column = max(facts.spread.values())
        raise RejectedError(
            "too_large",
            f"A sheet reaches to row {row} and column {column}, and is full; the limit is {MAX_CELLS} cells.",
        )
    return data


def _inspect(archive: Archive) -> _Facts:
    """Inflate every part under the caps, before the reader does it without them."""
    facts = _Facts()
    for name in archive.names:
        is_sheet = "/worksheets/" in name and name.endswith(".xml")
        rows, columns, tail = 0, 0, b""
        cells = CellFacts()
        for position, piece in enumerate(archive.pieces(name)):
            if position == 0 and name.endswith((".xml", ".rels")) and has_doctype(piece):
                raise RejectedError("corrupt", f"{name!r} in the XLSX declares a document type.")
            if is_sheet:
                joined = tail + piece
                row, column = _extent(joined)
                facts.has_merged_cells |= b"<mergeCell" in joined
                rows, columns, tail = max(rows, row), max(columns, column), piece[-_LONGEST_REFERENCE:]
                cells.look_at(piece)
        if rows * columns > _MANY_CELLS:
            facts.spread[name] = (rows, columns)
        if cells.errors:
            facts.faulty.append(name)
        facts.uncomputed += cells.uncomputed
    return facts


def _extent(piece: bytes) -> tuple[int, int]:
    """The last row and column that a piece of a sheet's XML refers to, both from 1."""
    found = _REFERENCE.findall(piece)
    rows = {row for _, row in found}
    columns = {column for column, _ in found}
    return max(map(int, rows), default=0), max(map(_column_number, columns), default=0)


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters[:4]:
        number = number * 26 + letter - ord("A") + 1
    return number


def _texts(frame: pd.DataFrame, merged: Iterable[Range]) -> list[list[str]]:
    """All cells as text; the text of a merged range stands in each of its cells that the sheet has."""
    texts: list[list[str]] = frame.map(cell_text).to_numpy().tolist()
    height, width = frame.shape
    for (top, left), (bottom, right) in merged:
        for row in range(top, min(bottom + 1, height)):
            for column in range(left, min(right + 1, width)):
                texts[row][column] = texts[top][left]
    return texts


def _write(title: str, texts: list[list[str]], out: MarkdownWriter) -> None:
    if not any(map(any, texts)):
        return
    out.heading(1, title)
    block: list[list[str]] = []
    for row in [*texts, []]:
        if any(row):
            block.append(row)
        elif block:
            _write_block(block, out)
            block = []


def _write_block(block: list[list[str]], out: MarkdownWriter) -> None:
    """Rows in a row: a table, or a paragraph where there is one text only, as of a title."""
    texts = {text for row in block for text in row if text}
    if len(texts) == 1:
        out.paragraph(texts.pop())
    else:
        out.table(block)


def cell_text(value: object) -> str:
    """A cell's value as text: dates in ISO form, numbers to the 15 digits that a workbook keeps."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value) if abs(value) < _EXACT else _large(value)
    if isinstance(value, float):
        return format(value, ".15g")
    if isinstance(value, datetime.datetime):
        return _date_text(value)
    if isinstance(value, datetime.timedelta):
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    if isinstance(value, datetime.time):
        return value.isoformat(timespec="seconds")
    return str(value).strip()


def _large(value: int) -> str:
    """A whole number of more digits than a workbook keeps, which the reader makes up."""
    text = format(float(value), ".15g")
    return text if abs(value) >= _SCIENTIFIC else str(int(decimal.Decimal(text)))


def _date_text(value: datetime.datetime) -> str:
    """A date, with the time of day if it has one; microseconds are noise of the number behind it."""
    rounded = (value + _NOISE).replace(microsecond=0)
    if rounded.time() == datetime.time():
        return rounded.date().isoformat()
    return rounded.isoformat()

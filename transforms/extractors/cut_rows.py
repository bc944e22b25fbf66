"""Cut CSV and TSV: line breaks inside quotation marks are none, so the rows are read one by one for it.

No place in such a file tells whether it is inside quotation marks but by all that is before it. So the whole is
read by the parser of the standard library, which has taken so many lines after each row. A file of which it says
that the quotation marks do not fit is not cut.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from transforms.extractors.delimited import column_names, separator_of
from transforms.extractors.pieces import NotCutError, Piece, line_blocks
from transforms.extractors.ranged_text import piece_text
from transforms.extractors.records import Record, record_name
from transforms.extractors.settled_names import Wishes, numbered

if TYPE_CHECKING:
    from typing import BinaryIO

    from transforms.extractors.pieces import Digest
    from transforms.extractors.settings import ExtractSettings

_BLOCK = 2**20


def cut_rows(
    file: BinaryIO,
    settings: ExtractSettings,
    errors: str,
    size: int,
    most: int,
    digest: Digest,
    media_type: str,
) -> list[Piece]:
    """Pieces of about ``size`` bytes, and of one row at least, each with the header before it.

    Raises:
        NotCutError: a row has more than ``most`` bytes, or the quotation marks do not fit.
        UnicodeDecodeError: ``errors`` is strict, and the text is not in its encoding.
    """
    lines = _Lines(line_blocks(file, _BLOCK, most, digest), settings, errors, most)
    skipped, separator = separator_of(lines.first_text(), media_type)
    csv.field_size_limit(sys.maxsize)
    rows = lines.rows(skipped, separator)
    try:
        header = next(rows, None)
        if header is None or lines.inside:
            raise NotCutError
        return _cut(rows, lines, header, settings, size)
    except csv.Error as error:
        raise NotCutError from error


class _Lines:
    """The lines of a delimited text, as its parser takes them, and how far it has come."""

    def __init__(self, blocks: Iterator[bytes], settings: ExtractSettings, errors: str, most: int) -> None:
        self._blocks = blocks
        self._encoding, self._errors, self._most = settings.encoding, errors, most
        self._last = ""
        self._row_start = 0
        self.taken = 0
        """Bytes of the lines that were taken."""
        self.inside = False
        """Whether of the last of them only a part was taken: a lone CR is a line break as well."""

    def first_text(self) -> str:
        """What the text begins with; to be asked for first."""
        first = next(self._blocks, b"")
        self._blocks = chain([first], self._blocks)
        return piece_text(first, self._encoding, self._errors, begins=True)

    def rows(self, skipped: int, separator: str) -> Iterator[list[str]]:
        """The rows that are none of blanks, behind so many characters of the text.

        Raises:
            csv.Error: the quotation marks do not fit.
            NotCutError: a row has more bytes than it may have.
        """
        blank = " \t\n".replace(separator, "")
        texts = self._texts()
        while skipped > 0:
            skipped -= len(next(texts))
        for row in csv.reader(texts, delimiter=separator, strict=True):
            self._row_start = self.taken
            if self._last.strip(blank):
                yield row

    def _texts(self) -> Iterator[str]:
        for line in chain.from_iterable(map(io.BytesIO, self._blocks)):
            begins = self.taken == 0
            self.taken += len(line)
            if self.taken - self._row_start > self._most:
                raise NotCutError
            text = piece_text(line, self._encoding, self._errors, begins=begins)
            parts = [*io.StringIO(text)] if "\n" in text[:-1] else [text]
            for left, part in zip(range(len(parts) - 1, -1, -1), parts, strict=True):
                self.inside, self._last = left > 0, part
                yield part


def _cut(
    rows: Iterator[list[str]], lines: _Lines, header: Sequence[str], settings: ExtractSettings, size: int
) -> list[Piece]:
    head = start = lines.taken
    width = len(header)
    place = _place(header, settings.records.id)
    pieces: list[Piece] = []
    cells: list[str] = []
    before = 0
    for row in rows:
        width = max(width, len(row))
        cells.append(row[place] if place is not None and place < len(row) else "")
        if lines.taken - start >= size and not lines.inside:
            pieces.append(_piece((head, start, lines.taken), before, cells, settings))
            start, before, cells = lines.taken, before + len(cells), []
    if cells:
        pieces.append(_piece((head, start, lines.taken), before, cells, settings))
    return [replace(piece, width=width) for piece in pieces]


def _place(header: Sequence[str], field: str | None) -> int | None:
    """The column of a field; behind the header's last one are those of longer rows."""
    if field is None:
        return None
    names = column_names(header)
    if field in names:
        return len(names) - 1 - names[::-1].index(field)
    number = field.removeprefix("column ")
    is_behind = field == f"column {number}" and number.isdecimal() and int(number) > len(names)
    return int(number) - 1 if is_behind else None


def _piece(
    places: tuple[int, int, int], before: int, cells: Sequence[str], settings: ExtractSettings
) -> Piece:
    """Rows with these ids; ``places`` are the ends of the header, of the rows before, and of these."""
    head, start, end = places
    spans = ((0, end),) if start == head else ((0, head), (start, end))
    field = settings.records.id
    if field is None:
        return Piece(spans, before, numbered(before, len(cells)))
    numbers = range(before + 1, before + len(cells) + 1)
    names = [
        record_name(Record(number, {field: cell}), settings.records)
        for number, cell in zip(numbers, cells, strict=True)
    ]
    return Piece(spans, before, Wishes(pa.array(names, pa.string()), np.array(numbers, np.int64)))

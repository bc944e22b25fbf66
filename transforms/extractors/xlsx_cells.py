"""Looks at the cells of a sheet as they are written, for what the reader of workbooks does not tell.

An error, as of a division by nothing, would be an empty cell: it is written as text. A formula that no program has
computed yet, as in files that programs make which compute nothing, has no value to show: such are counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ERROR = re.compile(rb"""(<(?:\w+:)?c\s[^<>]*?\bt\s*=\s*)(["'])e\2""")
_FORMULA_ALONE = re.compile(
    rb"""(?:/>|</(?:\w+:)?f>)\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"""
)
"""The end of a cell with a formula and no value."""
_CELL = re.compile(rb"""<(?:\w+:)?c(?:\s[^<>]*)?>""")
_FORMULA = re.compile(rb"<(?:\w+:)?f\b")
_TEXT = re.compile(rb"""\bt\s*=\s*["']str""")
_LONGEST_CELL = 65_536


@dataclass(slots=True)
class CellFacts:
    """What was seen of the cells of a sheet, piece by piece."""

    errors: bool = False
    uncomputed: int = 0
    _open: bytes = b""

    def look_at(self, piece: bytes) -> None:
        """Look at the next piece of the sheet; cells that it cuts are looked at with the piece that follows."""
        text = self._open + piece
        # Most sheets have neither, and to see that is far cheaper than to look at each cell.
        if not self.errors and (b'"e"' in text or b"'e'" in text):
            self.errors = _ERROR.search(text) is not None
        if b"<f" in text or b":f" in text:
            self.uncomputed += sum(
                _is_uncomputed(text, found.start()) for found in _FORMULA_ALONE.finditer(text)
            )
        ends = [found + len(tag) for tag in (b"</c>", b":c>") if (found := text.rfind(tag)) >= 0]
        self._open = text[max(ends, default=-_LONGEST_CELL) :]


def _is_uncomputed(sheet: bytes, end: int) -> bool:
    """Whether the formula that ends here is a number's or an error's: a text may have been computed to be empty."""
    start = max(sheet.rfind(b"<c", 0, end), sheet.rfind(b"<", 0, max(sheet.rfind(b":c ", 0, end), 0)))
    cell = _CELL.match(sheet, max(start, 0), end)
    if cell is None or _TEXT.search(cell.group()):
        return False
    return _FORMULA.search(sheet, cell.end(), end) is not None


def with_errors_as_text(sheet: bytes) -> bytes:
    """A sheet whose errors are texts, for readers that have no others."""
    return _ERROR.sub(rb"\1\2str\2", sheet)

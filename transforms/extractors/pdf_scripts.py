"""Puts raised and lowered signs into their lines: marks of footnotes, exponents, indices.

PDFium begins a new line where letters rise or sink for long, and leaves signs that were drawn later where they were
drawn. Which line they belong to is seen by their places and sizes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from transforms.extractors.pdf_cells import Box
from transforms.extractors.pdf_lines import HYPHEN_AT_LINE_END, Line
from transforms.extractors.scripts import lowered, raised, settled

_SIGN = re.compile(r"[\w*\u2020\u2021\u00a7\u00b6#+\u2212\u2013,()\[\]-]{1,5}")
_SMALL = 0.85
"""Times the size of a line: what is larger is no sign of it."""
_OVERLAP = 0.3
"""Share of the lower one's height by which two pieces of a line stand beside each other at least."""
_NEAR = 0.5
"""Times the larger size: how far two pieces of a line are apart at most."""
_NEAR_AFTER_SPACE = 1.2
"""The same where there is a space between, which lines of full width stretch."""
_BACK = 0.6
"""Times the smaller size: how far signs stand above each other."""
_SUNK = 0.25
"""Times the larger size: so far the middle of a sign is below that of its line at least, if it is lowered."""
_DIGITS = re.compile(r"[0-9]{2,}")
_SPACE = 0.2
"""Times the larger size: from here on there is a space between."""
_SIGNS_AT_MOST = 200
"""On a page; with more it is a drawing or a table without lines."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A line as it was read, and where in the page's text it is."""

    line: Line
    start: int
    end: int


class Letters(Protocol):
    """A page's text with the places and sizes of its letters."""

    text: str

    def size(self, position: int) -> float: ...

    def box(self, position: int) -> Box | None: ...


def with_scripts(pieces: Sequence[Piece], letters: Letters) -> list[Line]:
    """The lines, with signs in those that they belong to and parted lines whole again."""
    lines: list[Line] = []
    last: Piece | None = None
    for piece in _placed(pieces, letters):
        if last is not None and _goes_on(lines[-1], last, piece, letters):
            lines[-1] = _joined(lines[-1], piece.line, is_apart=letters.text[last.end - 1].isspace())
        else:
            lines.append(piece.line)
        last = piece
    return lines


def with_numbers_apart(letters: Letters, start: int, end: int) -> str:
    """The text of a span, its exponents and indices that touch a number marked as such.

    Only neighbouring digits are looked at: a size costs more than a letter, and all other signs stay as they are.
    """
    own = letters.text[start:end]
    for found in reversed([*_DIGITS.finditer(own)]):
        first, last = start + found.start(), start + found.end() - 1
        at = _size_changes(letters, first, last)
        if at is not None:
            number, place = found[0], at - first
            before, after = number[:place], number[place:]
            if letters.size(first) > letters.size(last):
                after = _marked(after, letters.box(last), letters.box(first), letters.size(first))
            else:
                before = _marked(before, letters.box(first), letters.box(last), letters.size(last))
            own = f"{own[: found.start()]}{before}{after}{own[found.end() :]}"
    return own


def _size_changes(letters: Letters, first: int, last: int) -> int | None:
    """Where the digits of a run begin to be smaller, or larger, as signs of a line are."""
    sizes = letters.size(first), letters.size(last)
    if not 0 < min(sizes) <= _SMALL * max(sizes):
        return None
    middle = sum(sizes) / 2
    is_small = sizes[0] < middle
    return next(at for at in range(first + 1, last + 1) if (letters.size(at) < middle) != is_small)


def _marked(sign: str, own: Box | None, base: Box | None, size: float) -> str:
    """A sign marked as raised or lowered beside what stands in its line, by the middles of both."""
    if own is None or base is None:
        return sign
    rise = (base[1] + base[3] - own[1] - own[3]) / 2
    return raised(sign) if rise > 0 else lowered(sign) if rise < -_SUNK * size else sign


def _placed(pieces: Sequence[Piece], letters: Letters) -> Sequence[Piece]:
    """The pieces, signs inside or at the ends of others as parts of these."""
    signs = [piece for piece in pieces if piece.line.size and _SIGN.fullmatch(piece.line.text.strip())]
    if not signs or len(signs) > _SIGNS_AT_MOST:
        return pieces
    found = list(pieces)
    for sign in signs:
        hosts = [piece for piece in found if _holds(piece.line, sign.line)]
        if hosts:
            host = max(hosts, key=lambda piece: _overlap(piece.line, sign.line))
            found = [
                _with_sign(host, sign, letters) if piece is host else piece
                for piece in found
                if piece is not sign
            ]
    return found


def _holds(line: Line, sign: Line) -> bool:
    """Whether a sign stands within a line or at one of its ends."""
    if line.is_table or not 0 < sign.size <= _SMALL * line.size:
        return False
    near = _NEAR * line.size
    return line.x0 - near <= sign.x1 and sign.x0 <= line.x1 + near and _are_beside(line, sign)


def _with_sign(host: Piece, sign: Piece, letters: Letters) -> Piece:
    text = host.line.text
    at = _ink_before(host, sign.line, letters)
    place = next((end for end in range(len(text) + 1) if _ink(text[:end]) >= at), len(text))
    before, after = text[:place], text[place:]
    is_apart = after[:1].isspace() or before[-1:].isspace()
    joint = " " if is_apart and after.strip() else ""
    own = _marked(sign.line.text.strip(), _box(sign.line), _box(host.line), host.line.size)
    whole = settled(f"{before.rstrip()}{own}{joint}{after.lstrip()}")
    box = min(host.line.x0, sign.line.x0), max(host.line.x1, sign.line.x1)
    return replace(host, line=replace(host.line, text=whole, x0=box[0], x1=box[1]))


def _ink_before(host: Piece, sign: Line, letters: Letters) -> int:
    """How many letters of a line stand before a sign."""
    count = 0
    for position in range(host.start, host.end):
        box = None if letters.text[position].isspace() else letters.box(position)
        if box is not None and box[0] + box[2] > sign.x0 + sign.x1:
            break
        count += box is not None
    return count


def _ink(text: str) -> int:
    return len(text) - sum(map(str.isspace, text))


def _goes_on(line: Line, last: Piece, piece: Piece, letters: Letters) -> bool:
    """Whether a piece is the rest of a line that a sign ended, or the sign at its end."""
    below = piece.line
    if (
        line.is_table
        or below.is_table
        or not line.size
        or not below.size
        or line.text[-1:] == HYPHEN_AT_LINE_END
    ):
        return False
    smaller, larger = sorted((line.size, below.size))
    gap = below.x0 - line.x1
    near = _NEAR_AFTER_SPACE if below.text[:1].isspace() else _NEAR
    if not -_BACK * smaller <= gap <= near * larger or not _are_beside(line, below):
        return False
    return smaller <= _SMALL * larger or letters.size(last.end - 1) <= _SMALL * larger


def _joined(line: Line, below: Line, *, is_apart: bool) -> Line:
    base = line if line.size >= below.size else below
    is_apart |= below.text[:1].isspace() or below.x0 - line.x1 > _SPACE * base.size
    texts = [line.text, below.text.lstrip()]
    if not is_apart:
        place, sign = (1, below) if base is line else (0, line)
        texts[place] = _marked(texts[place], _box(sign), _box(base), base.size)
    text = settled((" " if is_apart else "").join(texts))
    return replace(base, text=text, x0=min(line.x0, below.x0), x1=max(line.x1, below.x1))


def _box(line: Line) -> Box:
    return line.x0, line.top, line.x1, line.bottom


def _are_beside(one: Line, other: Line) -> bool:
    return _overlap(one, other) >= _OVERLAP * min(one.bottom - one.top, other.bottom - other.top) > 0


def _overlap(one: Line, other: Line) -> float:
    return min(one.bottom, other.bottom) - max(one.top, other.top)

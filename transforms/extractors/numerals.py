"""Writes the numbers of list items as they are shown: in digits, letters or Roman numerals.

Markdown numbers its items in digits alone, so that a reference to ``(b)`` or ``iv.`` would find nothing. Such items are
written without Markdown's number, and with what is shown in its place.
"""

from __future__ import annotations

_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_ROMAN_AT_MOST = 3999
_LETTERS = 26
_LONGEST = 10


def letters(number: int) -> str:
    """``a`` to ``z``, then ``aa`` as Word and PowerPoint count; digits beyond a few of these."""
    times, place = divmod(number - 1, _LETTERS)
    return chr(ord("a") + place) * (times + 1) if 0 <= times < _LONGEST else str(number)


def roman(number: int) -> str:
    """In small Roman numerals; digits where there are none."""
    if not 0 < number <= _ROMAN_AT_MOST:
        return str(number)
    text = ""
    for value, sign in _ROMAN:
        times, number = divmod(number, value)
        text += sign * times
    return text

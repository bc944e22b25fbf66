"""Decides how raised and lowered signs are written: as they stand, save numbers that touch a number.

Without its rise the exponent of ten to the sixth makes 106 of it, and the mark of a footnote makes 1998 a number of
five digits. There they are written in the raised and lowered digits of Unicode, which NFKC makes digits again. All
other signs (``m2``, ``H2O``, ``1st``) stay the letters that people search for.

Readers mark what is raised or lowered where they meet it, and settle the marks of a whole line, when it is known what
stands beside.
"""

from __future__ import annotations

import re
from string import digits

_RAISED, _LOWERED, _END = "\ufdd0", "\ufdd1", "\ufdd2"
"""Characters that no text may hold, by Unicode's own word."""
_MARKS = re.compile(f"[{_RAISED}{_LOWERED}{_END}]")
_RUNS = re.compile(
    "|".join(f"(?:{mark}[^{_RAISED}{_LOWERED}{_END}]*{_END})+" for mark in (_RAISED, _LOWERED))
)
"""Signs in a row that stand alike: programs part them as they like."""
_BESIDE = 3
"""Marks between two characters, at most: the end of one run and the beginning of the next."""
_DIGITS = frozenset(digits)
_NUMBER = re.compile(r"[+\u2212\u2013-]?[0-9]{1,9}")
_UP = str.maketrans("0123456789+-\u2212\u2013", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻")
_DOWN = str.maketrans("0123456789+-\u2212\u2013", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋")


def raised(text: str) -> str:
    """A text marked as standing above its line."""
    return f"{_RAISED}{text}{_END}" if text else ""


def lowered(text: str) -> str:
    """A text marked as standing below its line."""
    return f"{_LOWERED}{text}{_END}" if text else ""


def settled(text: str) -> str:
    """A text without marks, numbers that touch a number in raised or lowered digits."""
    if _END not in text:
        return text
    return _MARKS.sub("", _RUNS.sub(_written, text))


def _written(run: re.Match[str]) -> str:
    sign = _MARKS.sub("", run.group())
    before = _MARKS.sub("", run.string[max(0, run.start() - _BESIDE) : run.start()])[-1:]
    after = _MARKS.sub("", run.string[run.end() : run.end() + _BESIDE])[:1]
    if not {before, after} & _DIGITS or not _NUMBER.fullmatch(sign):
        return sign
    return sign.translate(_UP if run.group()[0] == _RAISED else _DOWN)

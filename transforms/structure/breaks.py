"""Where a text may be cut: the last break of each kind up to a place, found from there backwards.

Each function looks at ``text`` behind ``low`` up to ``high`` and gives the end of the ink before the last
break there (``low < end <= high``), or None; ``begin`` is where the block begins. White space at ``high``
itself is seen: a break that straddles the limit counts, as its ink ends within. All take time in the distance
that they look back, and no more.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from transforms.structure.phrases import is_unspaced, phrase_ends
from transforms.structure.sentences import (
    BREAKING_SPACE,
    LONGEST_GRAPHEME,
    RULES,
    grapheme_spans,
    sentence_ends,
)

if TYPE_CHECKING:
    from transforms.structure.sentences import SentenceRules

_ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]")
_NEAR = 256
_PHRASES_BACK, _PHRASES_AHEAD = 48, 16
_LINES_BACK = 64
_NOT_AFTER = re.compile(r"(?:^|\s)(?:\d{1,3}[.)]|[-*+#]+)\Z")
"""Marks that belong to what follows: the number or bullet of an item, the marks of a heading."""

_LAST_BREAKING = re.compile(f"(?s:.*)[{BREAKING_SPACE}]")
_LAST_SPACE = re.compile(r"(?s:.*)\s")
_CLAUSE = re.compile("(?s:.*)[、，；：]")
_WIDE = re.compile(
    r"[\u2e80-\u2fff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_BEGINS_A_GRAPHEME = re.compile(
    # Prepended signs and leading consonants of Hangul take what follows into their grapheme (UAX #29).
    r"[^\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\u1100-\u115f\ua960-\ua97c\U00010000-\U0001ffff]"
    r"[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0386-\u03ff\u0400-\u0481\u048a-\u052f\u05d0-\u05ea"
    r"\u0620-\u064a\u0e01-\u0e30\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]"
)
"""Any character but those that take the next one along, and a letter of a script without joined letters."""
_NOT_FIRST = frozenset(
    "、。，．：；？！）］｝」』】〉》〕゛゜ーぁぃぅぇぉっゃゅょァィゥェォッャュョヮ々・…"
)


def last_line(text: str, low: int, high: int, begin: int) -> int | None:  # noqa: ARG001 - as all
    """Before a line break."""
    return _inked(text, low, text.rfind("\n", low, high + 1))


def last_blank_line(text: str, low: int, high: int, begin: int) -> int | None:  # noqa: ARG001
    """Before an empty line."""
    return _inked(text, low, text.rfind("\n\n", low, high + 2))


def last_row(text: str, low: int, high: int, begin: int) -> int | None:
    """Between two rows of a table, behind its header and the line under it."""
    header = text.find("\n", text.find("\n", begin) + 1)
    end = last_line(text, low, high, begin)
    return end if end is not None and end > header else None


def last_outer_item(text: str, low: int, high: int, begin: int) -> int | None:  # noqa: ARG001
    """Before an item of a list that is not inside another."""
    return _last_item(text, low, high, outer=True)


def last_item(text: str, low: int, high: int, begin: int) -> int | None:  # noqa: ARG001
    """Before an item of a list."""
    return _last_item(text, low, high, outer=False)


def last_sentence(text: str, low: int, high: int, begin: int, rules: SentenceRules = RULES) -> int | None:
    """Behind a full sentence."""
    for near in (max(low, high - _NEAR), low):
        last = None
        for end in sentence_ends(text, near, high, begin, rules):
            if end > low:
                last = end
        if last is not None or near == low:
            return last
    return None


def last_word(text: str, low: int, high: int, begin: int) -> int | None:  # noqa: ARG001
    """Between words, not behind a mark that belongs to the next one; no-break spaces hold."""
    end = _last(_LAST_BREAKING, text, low, high)
    if end is not None and _NOT_AFTER.search(text, max(low, end - 5), end):
        before = _last(_LAST_BREAKING, text, low, end - 1)
        return end if before is None else before
    return end


def last_phrase(text: str, low: int, high: int, begin: int) -> int | None:  # noqa: ARG001
    """Between two phrases of Chinese, Japanese or Thai, which have no spaces between words."""
    if high >= len(text) or not is_unspaced(text[high - 1]):
        return None
    first = max(low, high - _PHRASES_BACK)
    ends = [
        end
        for end in phrase_ends(text, first, min(len(text), high + _PHRASES_AHEAD))
        if low < end <= high and text[end] not in _NOT_FIRST
    ]
    return _inked(text, low, ends[-1]) if ends else None


def last_wide_character(text: str, low: int, high: int, begin: int) -> int | None:  # noqa: ARG001
    """Behind a comma of Chinese or Japanese, or between two of their characters."""
    clause = _CLAUSE.match(text, max(low, high - _NEAR), high)
    if clause and clause.end() > low:
        return clause.end()
    for end in range(high, max(low, high - 8), -1):
        pair = text[end - 1 : end + 1]
        if len(pair) == 2 and pair[1] not in _NOT_FIRST and all(map(_WIDE.match, pair)):
            return end
    return None


def last_space(text: str, low: int, high: int, begin: int) -> int | None:  # noqa: ARG001
    """At any white space."""
    return _last(_LAST_SPACE, text, low, high)


def last_grapheme(text: str, start: int, high: int) -> int:
    """The last end of a grapheme up to ``high``; of the first grapheme, if that is longer."""
    if high - start > 1 and text[high - 1 : high + 1].isascii() and text[high - 1 : high + 1] != "\r\n":
        return high
    end = start
    for first, last in grapheme_spans(text, start, min(len(text), high + LONGEST_GRAPHEME)):
        if last > high:
            return end if first > start else last
        end = last
    return end


def next_grapheme(text: str, begin: int, place: int, end: int) -> int:
    """The first start of a grapheme from ``place`` on, or ``end``; one starts at ``begin``."""
    if place == begin or text[place - 1 : place + 1].isascii():
        return place
    ends = (stop for _, stop in grapheme_spans(text, _certain_start(text, begin, place), end))
    return next((stop for stop in ends if stop >= place), end)


def _certain_start(text: str, begin: int, place: int) -> int:
    """A start of a grapheme before ``place``, near it where letters are that cling to nothing before them."""
    for at in range(place - 1, max(begin, place - _NEAR), -1):
        if _BEGINS_A_GRAPHEME.match(text, at - 1):
            return at
    return begin


def _last_item(text: str, low: int, high: int, *, outer: bool) -> int | None:
    """Looks at some lines only: an item has few."""
    place = high + 1
    for _ in range(_LINES_BACK):
        place = text.rfind("\n", low, place)
        end = _inked(text, low, place)
        if end is None:
            return None
        item = _ITEM.match(text, place + 1)
        if item and not (outer and item[1]):
            return end
    return None


def _last(pattern: re.Pattern[str], text: str, low: int, high: int) -> int | None:
    for near in (max(low, high - _NEAR), low):
        found = pattern.match(text, near, high + 1)
        end = _inked(text, low, found.end() - 1) if found else None
        if end is not None or near == low:
            return end
    return None


def _inked(text: str, low: int, end: int) -> int | None:
    if end <= low:
        return None
    if text[end - 1].isspace():
        end = low + len(text[low:end].rstrip())
    return end if end > low else None

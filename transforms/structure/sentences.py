"""Where sentences, words and graphemes end.

Sentences: after ``. ! ? …`` and closing marks before white space, after full-width stops at once, and at
blank lines. Not after abbreviations, single letters, and numbers that count list items; a lower-case word
behind a full stop continues the sentence.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

# A run of stops is looked at once, from its beginning, and never given back: else a million dots take hours.
_STOP = re.compile(
    r"(?<![.!?…؟।॥])(?P<mark>[.!?…؟।॥]++)[\"'”’»)\]]*+\s+|[。！？．｡]++[」』）”’]*+\s*|\n[^\S\n]*\n\s*"
)
_BEFORE = re.compile(r"(\w+(?:\.\w+)*)\Z")
_ABBREVIATIONS = frozenset(
    """dr mr mrs ms prof st sr sra jr vs etc e.g i.e cf al fig figs no nos vol pp p ed eds inc ltd co
    dept approx art abs bzw ca d.h evtl ggf nr s str tel u.a usw vgl z.b bspw inkl max min mind m ex
    par cap núm pág dott sig ing avv jan feb mar apr jun jul aug sep sept oct okt nov dec dez т.е т.д
    т.п г гг ул стр рис см
    """.split()  # noqa: SIM905 - easier to read and to add to
)
# Of white space, all but the no-break ones: U+00A0, U+2007 and U+202F hold their neighbours together.
BREAKING_SPACE = r"\t-\r\x1c-\x20\x85\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000"
_WORD = re.compile(f"[^{BREAKING_SPACE}]*+[{BREAKING_SPACE}]++|[^{BREAKING_SPACE}]++")
_WORD_OF_ANY_SPACE = re.compile(r"\S*+\s++|\S++")
_NEXT_INK = re.compile(r"\s{0,80}+(\S)")
LONGEST_GRAPHEME = 32
"""Code points. Unicode's stream-safe format allows 31 (UAX #15); what is longer is no text that anyone reads,
and one of a million marks must not pass any bound."""
_LONGEST_WORD_BEFORE_STOP = 24
_DEEPEST_LIST_ITEM = 40


def sentence_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans that cover ``text[start:end]`` without a gap; white space goes with the sentence before it."""
    at = start
    for stop in _STOP.finditer(text, start, end):
        if stop.group("mark") and not _ends_sentence(text, at, stop):
            continue
        yield at, stop.end()
        at = stop.end()
    if at < end:
        yield at, end


def sentence_ends(text: str, low: int, high: int, begin: int) -> Iterator[int]:
    """Where the ink of each sentence ends that ends from ``low`` to ``high``; its block begins at ``begin``."""
    for stop in _STOP.finditer(text, low, high + 1):
        end = stop.start() + len(stop.group().rstrip())
        if end <= high and not (stop.group("mark") and not _ends_sentence(text, begin, stop)):
            yield end


def _ends_sentence(text: str, at: int, stop: re.Match[str]) -> bool:
    if stop.group("mark") != ".":
        return True
    before = _BEFORE.search(text, max(at, stop.start() - _LONGEST_WORD_BEFORE_STOP), stop.start())
    word = before[1] if before else ""
    if word.lower() in _ABBREVIATIONS or (len(word) == 1 and word.isalpha()):
        return False
    if word.isdigit() and _begins_line(text, at, stop.start() - len(word)):
        return False
    follows = _NEXT_INK.match(text, stop.end())
    return not (follows and follows[1].islower())


def _begins_line(text: str, at: int, position: int) -> bool:
    first = max(at, position - _DEEPEST_LIST_ITEM)
    before = text[first:position].rpartition("\n")
    return not before[2].strip() and (bool(before[1]) or first == at)


def line_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Lines with their line break; they cover the span."""
    at = start
    while at < end:
        found = text.find("\n", at, end)
        stop = end if found < 0 else found + 1
        yield at, stop
        at = stop


def word_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Words with the white space after them; they cover the span. No-break spaces do not end a word."""
    for found in _WORD.finditer(text, start, end):
        yield found.span()


def loose_word_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """As :func:`word_spans`, but any white space ends a word: for where no other break is left."""
    for found in _WORD_OF_ANY_SPACE.finditer(text, start, end):
        yield found.span()


def grapheme_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Extended grapheme clusters (UAX #29) of at most :data:`LONGEST_GRAPHEME`; they cover the span."""
    for found in regex.finditer(r"\X", text, pos=start, endpos=end):
        first, last = found.span()
        while last - first > LONGEST_GRAPHEME:
            yield first, first + LONGEST_GRAPHEME
            first += LONGEST_GRAPHEME
        yield first, last

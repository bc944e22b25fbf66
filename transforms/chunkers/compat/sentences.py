"""The two sentence splitters that stand in for the one of the fourth system, which was not given."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from transforms.chunkers.compat.spans import ink

SentenceStyle: TypeAlias = Literal["para", "flat"]

_MARKS = ".!?…"
_CLOSERS = "\"'”’»›“‘)]}"
_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_FULL_WIDTH_MARKS = "。！？"
_GAP = re.compile(r"\s+|(?<=[。！？])")
_FLAT_GAP = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence: its span, and its text, which style ``flat`` rewrites."""

    start: int
    end: int
    text: str


Splitter: TypeAlias = Callable[[str], list[Sentence]]


def para_sentences(text: str) -> list[Sentence]:
    """Trimmed slices between blank lines and behind stops, less the stops of list numbers and initials."""
    sentences = []
    start = 0
    for gap in _GAP.finditer(text):
        if gap.start() <= start:
            start = max(start, gap.end())
        elif _ends_sentence(text, start, gap):
            sentences.append(Sentence(start, gap.start(), text[start : gap.start()]))
            start = gap.end()
    rest = ink(text, start, len(text))
    return [*sentences, Sentence(*rest, text[slice(*rest)])] if rest else sentences


def flat_sentences(text: str) -> list[Sentence]:
    """Pieces between the white space behind ``.``, ``!``, ``?``; white space inside becomes one space."""
    whole = ink(text, 0, len(text))
    if whole is None:
        return []
    start, end = whole
    spans = []
    for gap in _FLAT_GAP.finditer(text, start, end):
        spans.append((start, gap.start()))
        start = gap.end()
    return [Sentence(a, b, " ".join(text[a:b].split())) for a, b in [*spans, (start, end)]]


SPLITTERS: dict[SentenceStyle, Splitter] = {"para": para_sentences, "flat": flat_sentences}


def _ends_sentence(text: str, start: int, gap: re.Match[str]) -> bool:
    """Whether a sentence that began at ``start`` ends where white space or a full-width stop allows it."""
    stop = gap.start() - 1
    if text[stop] in _FULL_WIDTH_MARKS or _is_blank_line(gap.group()):
        return True
    while stop > start and text[stop] in _CLOSERS:
        stop -= 1
    if text[stop] not in _MARKS:
        return False
    return text[stop] != "." or not (_is_list_number(text, start, stop) or _is_initial(text, start, stop))


def _is_blank_line(gap: str) -> bool:
    return len(f"{gap}.".splitlines()) > 2


def _is_list_number(text: str, start: int, stop: int) -> bool:
    """Digits from the start of the sentence or of a line up to the stop."""
    first = stop
    while first > start and text[first - 1].isdecimal():
        first -= 1
    if first == stop:
        return False
    before = first
    while before > start and text[before - 1] in " \t":
        before -= 1
    return before == start or text[before - 1] in _LINE_ENDS


def _is_initial(text: str, start: int, stop: int) -> bool:
    """One letter by itself before the stop."""
    letter = stop - 1
    if letter < start or not text[letter].isalpha():
        return False
    return letter == start or not (text[letter - 1].isalnum() or text[letter - 1] == "_")

"""What of the text before and behind a chunk is embedded with it: never across a heading unless that is asked for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from transforms.structure.breaks import last_grapheme, last_sentence, last_word, next_grapheme
from transforms.structure.sentences import BREAKING_SPACE, sentence_ends

if TYPE_CHECKING:
    from transforms.chunkers.settings import ChunkSettings
    from transforms.chunkers.size import Measure
    from transforms.model.document import Document
    from transforms.structure.outline import Outline
    from transforms.structure.sentences import SentenceRules

_WITHOUT_CONTEXT = frozenset({"records"})
"""Strategies whose chunks do not go on from one to the next."""
_BREAK = re.compile(f"[{BREAKING_SPACE}]")
_INK = re.compile(r"\S")
_LOOK_BACK = 500
"""Characters before a tail in which the sentence or word that it begins in may have begun."""

Span: TypeAlias = tuple[int, int]


class Neighbours:
    """The end of the text before a chunk, and the beginning of the text behind it."""

    def __init__(
        self, document: Document, outline: Outline, settings: ChunkSettings, measure: Measure
    ) -> None:
        """``measure`` is of the unit of ``settings.overlap``."""
        self._text, self._outline, self._measure = document.text, outline, measure
        apart = settings.strategy in _WITHOUT_CONTEXT
        self._before = 0 if apart else settings.overlap_size
        self._after = 0 if apart else settings.overlap.after
        self._rules = settings.sentences.rules
        self._snap, self._across = settings.overlap.snap, settings.overlap.across_headings

    def before(self, start: int, end: int | None) -> Span | None:
        """The tail of the text up to ``end``, snapped, for a chunk from ``start`` on; None where there is none.

        ``end`` is where the ink of the chunk before ends; None: there is none.
        """
        if end is None or self._before == 0:
            return None
        section = self._outline.at(start)
        if not self._across and self._outline.at(end - 1) is not section:
            return None
        # Where the chunk before is shorter than the overlap, the tail begins further back, up to the heading.
        first = 0 if self._across else section.start
        begin = max(first, self._measure.tail(end, self._before))
        begin = _begin(self._text, first, begin, end, self._snap, self._rules)
        return (begin, end) if self._text[begin:end].strip() else None

    def after(self, end: int) -> Span | None:
        """The head of the text behind a chunk whose ink ends at ``end``, snapped; None where there is none."""
        if self._after == 0:
            return None
        last = len(self._text) if self._across else self._outline.end(end - 1, len(self._text))
        begin = _next_ink(self._text, end, last)
        stop = min(last, self._measure.reach(begin, self._after))
        if stop <= begin:
            return None
        stop = _end(self._text, begin, stop, last, self._snap, self._rules)
        return (begin, stop) if stop > begin else None


def _begin(text: str, first: int, start: int, end: int, snap: str, rules: SentenceRules) -> int:
    """The first sentence, else word, else grapheme that begins at ``start`` or behind it."""
    if snap == "sentence":
        # Sentences of the text just before are looked at too: one may end at the start.
        for stop in sentence_ends(text, max(first, start - _LOOK_BACK), end, first, rules):
            begin = _next_ink(text, stop, end)
            if begin >= start:
                return begin if begin < end else _begin(text, first, start, end, "word", rules)
    if start == first or text[start - 1].isspace():
        return _next_ink(text, start, end)
    space = _BREAK.search(text, start, end) if snap != "none" else None
    if space and _next_ink(text, space.end(), end) < end:
        return _next_ink(text, space.end(), end)
    while start < end and text[start].isspace():
        start += 1
    return next_grapheme(text, max(first, start - _LOOK_BACK), start, end)


def _end(text: str, begin: int, end: int, last: int, snap: str, rules: SentenceRules) -> int:
    """The last sentence, else word, else grapheme that ends at ``end`` or before it; ``begin`` where none does."""
    if end == last:
        return begin + len(text[begin:end].rstrip())
    found = last_sentence(text, begin, end, begin, rules) if snap == "sentence" else None
    if found is None and snap != "none":
        found = last_word(text, begin, end, begin)
    if found is None:
        found = last_grapheme(text, begin, end)
    return begin + len(text[begin:found].rstrip()) if found <= end else begin


def _next_ink(text: str, start: int, end: int) -> int:
    found = _INK.search(text, start, end)
    return found.start() if found else end

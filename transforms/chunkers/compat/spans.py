"""Spans of texts that were put together from parts of another text, and the way back to that text.

The systems reproduced here store text in which lines, blocks or sentences were joined anew. What they
did is decided on the joined text; where it lies in the source follows from the map kept here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]

_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


class Joined:
    """Parts of a source text put together with the same glue between them.

    Args:
        source: the text that the parts are spans of.
        parts: ordered spans of the source.
        glue: what stands between two parts; it belongs to none of them.
    """

    __slots__ = ("_offsets", "parts", "source", "text")

    def __init__(self, source: str, parts: Sequence[Span], glue: str) -> None:
        self.source = source
        self.parts = parts
        self.text = glue.join(source[start:end] for start, end in parts)
        lengths = (end - start + len(glue) for start, end in parts)
        self._offsets = [0, *accumulate(lengths)][: len(parts)]

    def origin(self, position: int) -> int:
        """The source position of a character of the text; glue lies at the end of the part before."""
        part = bisect_right(self._offsets, position) - 1
        start, end = self.parts[part]
        return min(start + position - self._offsets[part], end)

    def span(self, start: int, end: int) -> Span:
        """From the first to the last character of ``joined.text[start:end]``, which is not empty."""
        return (self.origin(start), self.origin(end - 1) + 1)


def located(source: str, text: str, start: int, end: int) -> Span | None:
    """The span of ``text``: ``[start, end)`` if that is the text, else the ink in it, else None."""
    if source[start:end] == text:
        return (start, end)
    return ink(source, start, end)


def ink(text: str, start: int, end: int) -> Span | None:
    """The span from the first to the last character of ``[start, end)`` that is not white space."""
    piece = text[start:end]
    lead = len(piece) - len(piece.lstrip())
    return (start + lead, start + len(piece.rstrip())) if lead < len(piece) else None


def universal_lines(text: str, start: int = 0, end: int | None = None) -> list[Span]:
    """The lines of ``text[start:end]`` as ``str.splitlines`` sees them, without their ends."""
    lines = []
    for line in text[start:end].splitlines(keepends=True):
        lines.append((start, start + len(line.rstrip(_LINE_ENDS))))
        start += len(line)
    return lines


def split_spans(text: str, separator: str, start: int, end: int) -> list[Span]:
    """What ``str.split(separator)`` gives for ``text[start:end]``, as spans of ``text``."""
    spans = []
    found = text.find(separator, start, end)
    while found >= 0:
        spans.append((start, found))
        start = found + len(separator)
        found = text.find(separator, start, end)
    return [*spans, (start, end)]

"""Divide a text into segments of which each lies in the same chunks from end to end: what one tint can show."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transforms.model.chunk import Chunk


@dataclass(frozen=True, slots=True)
class Segment:
    """A half-open span of the canonical text, and the chunks that it lies in, by their positions from 0."""

    start: int
    end: int
    chunks: tuple[int, ...]
    begins: tuple[int, ...]
    """Those of its chunks that begin with it."""


def segments(start: int, end: int, chunks: Sequence[Chunk]) -> list[Segment]:
    """The segments of ``[start, end)`` in order: disjoint, together all of it.

    Args:
        start: first code point of the stretch of text.
        end: the code point after its last.
        chunks: all of the document; they may overlap and leave gaps. In no chunk: an empty ``chunks``.
    """
    near = [n for n, chunk in enumerate(chunks) if chunk.cut.start < end and chunk.cut.end > start]
    waiting = sorted(near, key=lambda n: chunks[n].cut.start, reverse=True)
    bounds = {start, end}
    for n in near:
        bounds |= {max(start, chunks[n].cut.start), min(end, chunks[n].cut.end)}
    found, inside = [], list[int]()
    for a, b in pairwise(sorted(bounds)):
        inside = [n for n in inside if chunks[n].cut.end > a]
        while waiting and chunks[waiting[-1]].cut.start <= a:
            inside.append(waiting.pop())
        begins = tuple(n for n in inside if chunks[n].cut.start == a)
        found.append(Segment(a, b, tuple(sorted(inside)), begins))
    return found

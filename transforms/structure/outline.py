"""Which headings stand above a place in the text."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from transforms.model.document import Block, BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Section:
    """From one heading to the next; before the first there is one without a title."""

    start: int
    path: tuple[str, ...] = ()
    level: int | None = None

    @property
    def title(self) -> str | None:
        """The nearest heading."""
        return self.path[-1] if self.path else None


class Outline:
    """The sections of a document, to be asked by position."""

    def __init__(self, blocks: Iterable[Block]) -> None:
        self._sections = [Section(0)]
        open_headings: list[tuple[int, str]] = []
        for block in blocks:
            if block.kind is not BlockKind.HEADING or block.level is None:
                continue
            while open_headings and open_headings[-1][0] >= block.level:
                open_headings.pop()
            open_headings.append((block.level, block.title or ""))
            path = tuple(title for _, title in open_headings if title)
            self._sections.append(Section(block.start, path, block.level))
        self._starts = [section.start for section in self._sections]

    def at(self, position: int) -> Section:
        """The section that a position lies in; a heading lies in its own."""
        return self._sections[bisect_right(self._starts, position) - 1]

    def end(self, position: int, last: int) -> int:
        """Where the next heading behind a position begins; ``last`` where there is none."""
        place = bisect_right(self._starts, position)
        return self._starts[place] if place < len(self._starts) else last

    def headings(self, start: int, end: int) -> tuple[Section, tuple[str, ...]]:
        """The section that a span is filed under, and the headings that begin inside it: both in one look."""
        first = bisect_right(self._starts, start) - 1
        section = self._sections[first]
        if first + 1 == len(self._starts) or self._starts[first + 1] >= end:
            inside = section.start == start and section.title is not None
            return section, ((section.path[-1],) if inside else ())
        return self.over(start, end), self.titles_within(start, end)

    def over(self, start: int, end: int) -> Section:
        """The section that a span is filed under.

        A span that begins inside a section is filed there. One that begins with headings says them itself
        and is filed under what all its sections share. Text before the first heading is in no section, and
        does not count where a heading follows in the span.
        """
        first = bisect_right(self._starts, start) - 1
        inside = self._sections[first : max(bisect_left(self._starts, end), first + 1)]
        if inside[0].path and inside[0].start < start:
            return inside[0]
        if not inside[0].path and len(inside) > 1:
            inside = inside[1:]
        return reduce(_shared, inside)

    def titles_within(self, start: int, end: int) -> tuple[str, ...]:
        """The headings that begin inside a span."""
        first = bisect_right(self._starts, start - 1)
        inside = self._sections[first : bisect_right(self._starts, end - 1)]
        return tuple(section.title for section in inside if section.title)


def _shared(first: Section, other: Section) -> Section:
    """The section itself if it encloses the other, else what encloses both."""
    depth = 0
    for one, two in zip(first.path, other.path, strict=False):
        if one != two:
            break
        depth += 1
    return first if depth == len(first.path) else Section(first.start, first.path[:depth])

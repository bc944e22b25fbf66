"""Reading order of pages that are drawn in another order: row by row across columns, or from the bottom up.

Most programs draw text as it is read, and their order stays. It is changed only where the page contradicts it:
where lines of prose go across a gutter that no text stands in, or most lines go up the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from transforms.extractors.pdf_lines import Line

Gutter: TypeAlias = tuple[float, float]
"""The left and the right end of a gap between two columns, in points."""

_BIN = 2
"""Points: how finely gaps are looked for."""
_NARROWEST = 10
_OVER = 0.15
"""Share of a page's pieces of text that may go across a gutter, as titles do."""
_ROWS = 5
_LETTERS = 18
"""Of an average line of a column; cells of tables have fewer."""
_WORDS = 3
_UP = 3
"""Times as many steps up as down: then the page is drawn from the bottom."""


def gutters(spans: Sequence[tuple[float, float]], width: float) -> tuple[Gutter, ...]:
    """The gaps in the middle half of a page that pieces of text, given by their ends, leave free; the widest first.

    Few may go over it, as titles do; lines that reach into it, as the longest of a ragged column, make it narrower.
    """
    if len(spans) < 2 * _ROWS or width <= 0:
        return ()
    bins = int(width / _BIN) + 2
    changes = [0] * (bins + 1)
    for left, right in spans:
        changes[min(max(int(left / _BIN), 0), bins)] += 1
        changes[min(max(int(right / _BIN) + 1, 0), bins)] -= 1
    most = _OVER * len(spans)
    found: list[Gutter] = []
    start = None
    for place, covered in enumerate([*list(accumulate(changes)), len(spans)]):
        if covered <= most:
            start = place if start is None else start
        elif start is not None:
            gap = start * _BIN, place * _BIN
            start = None
            if gap[1] - gap[0] >= _NARROWEST and 0.25 * width < (gap[0] + gap[1]) / 2 < 0.75 * width:
                found.append(_narrowed(gap, spans))
    return tuple(sorted(found, key=lambda gap: gap[0] - gap[1]))


def _narrowed(gap: Gutter, spans: Sequence[tuple[float, float]]) -> Gutter:
    """A gutter without the ends of lines in it, where it is wide enough then."""
    low, high = gap
    left = max((end for start, end in spans if start < low < end < high), default=low)
    right = min((start for start, end in spans if low < start < high < end), default=high)
    return (left, right) if right - left >= _NARROWEST else gap


def crosses(line: Line, gaps: Sequence[Gutter]) -> bool:
    """Whether a line has text on both sides of a gutter."""
    return not line.is_table and any(line.x0 < gap[0] and line.x1 > gap[1] for gap in gaps)


def may_be_mixed(lines: Sequence[Line], gaps: Sequence[Gutter]) -> bool:
    """Whether lines go across gutters: several, or one that holds several itself."""
    across = [line for line in lines if crosses(line, gaps)]
    return len(across) >= _ROWS or any(line.bottom - line.top > 3 * line.size > 0 for line in across)


def is_prose(lines: Sequence[Line], gaps: Sequence[Gutter]) -> bool:
    """Whether there are lines of words in all columns, and not the cells of a table."""
    columns = [
        [line.text for line in lines if not line.is_table and _column(line, gaps) == number]
        for number in range(len(gaps) + 1)
    ]
    return all(
        len(column) >= _ROWS
        and sum(map(len, column)) >= _LETTERS * len(column)
        and sum(len(text.split()) for text in column) >= _WORDS * len(column)
        for column in columns
    )


def by_columns(lines: Sequence[Line], gaps: Sequence[Gutter]) -> list[Line]:
    """Lines that go across no gutter but as titles do: the columns from the left to the right."""
    ordered: list[Line] = []
    columns: list[list[Line]] = [[] for _ in range(len(gaps) + 1)]
    for line in sorted(lines, key=lambda line: line.top):
        if line.is_table or crosses(line, gaps):
            ordered += [*chain(*columns), line]
            columns = [[] for _ in columns]
        else:
            columns[_column(line, gaps)].append(line)
    return [*ordered, *chain(*columns)]


def downwards(lines: Sequence[Line], least: int = _UP) -> list[Line]:
    """The lines as they are, or from the top where most of them follow each other up the page, ``least`` times."""
    up = down = 0
    for above, below in pairwise(lines):
        if above.x0 < below.x1 and below.x0 < above.x1:
            up += below.bottom <= above.top + 1
            down += below.top >= above.bottom - 1
    return sorted(lines, key=lambda line: line.top) if up > _UP * down and up >= least else list(lines)


def _column(line: Line, gaps: Sequence[Gutter]) -> int:
    return sum(line.x0 + line.x1 > gap[0] + gap[1] for gap in gaps)

"""Which lines of a text are the steps of a procedure, and what belongs to each.

One numbered line makes no procedure: a run has consecutive numbers at one indentation. A step goes up to the
next one of its run, but a warning that stands by itself in front of a step belongs to that step. A note that is
indented under a step does not: it explains what was said, where a warning comes before what it warns of.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from transforms.model.document import Block, BlockKind
from transforms.structure.sentences import line_spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_INDENT = re.compile(r"[ \t]*")
_MARKS = r"[*_>]{0,3}[ \t]*"
_NUMBER = re.compile(r"\d{1,6}")
_NOTE = re.compile(_MARKS + r"NOTE\b")


@dataclass(frozen=True, slots=True)
class Step:
    """One step, with all that belongs to it."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class StepRun:
    """Steps with consecutive numbers."""

    steps: tuple[Step, ...]

    @property
    def start(self) -> int:
        """Of the first step."""
        return self.steps[0].start

    @property
    def end(self) -> int:
        """Of the last step."""
        return self.steps[-1].end


@dataclass(frozen=True, slots=True)
class StepRules:
    """What begins a step, and what stays with one."""

    begins: re.Pattern[str]
    attached: re.Pattern[str]
    min_run: int = 2

    @classmethod
    def of(cls, patterns: Iterable[str], attach: Iterable[str], min_run: int) -> StepRules:
        """Rules from patterns, which are tried behind a line's indentation and marks of emphasis."""
        either = "|".join(f"(?:{pattern})" for pattern in patterns) or r"(?!)"
        words = "|".join(re.escape(word) for word in attach) or r"(?!)"
        return cls(
            re.compile(_MARKS + f"(?:{either})", re.IGNORECASE),
            re.compile(_MARKS + rf"(?:{words})\b"),
            min_run,
        )


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    indent: int
    number: int | None
    blank: bool
    attached: bool
    note: bool = False


def step_runs(text: str, blocks: Sequence[Block], rules: StepRules) -> list[StepRun]:
    """The runs of a section's blocks, in order and disjoint. Lines of code are no steps. Linear."""
    lines = _lines(text, blocks, rules)
    runs: list[StepRun] = []
    free = 0
    for firsts, stop in _consecutive(lines):
        if len(firsts) >= rules.min_run:
            runs.append(_run(lines, firsts, stop, free))
            while free < stop and lines[free].start < runs[-1].end:
                free += 1
    return runs


def _consecutive(lines: Sequence[_Line]) -> Iterator[tuple[list[int], int]]:
    """Lines with consecutive numbers at one indentation, and the line that ends their run."""
    firsts: list[int] = []
    for place, line in enumerate(lines):
        if line.number is None or (firsts and line.indent > lines[firsts[0]].indent):
            continue
        last = lines[firsts[-1]] if firsts else None
        if last and (line.indent, line.number) != (last.indent, (last.number or 0) + 1):
            yield firsts, place
            firsts = []
        firsts.append(place)
    yield firsts, len(lines)


def _lines(text: str, blocks: Sequence[Block], rules: StepRules) -> list[_Line]:
    lines = []
    for start, end in line_spans(text, blocks[0].start, blocks[-1].end):
        indent = _INDENT.match(text, start, end)
        behind = indent.end() if indent else start
        begins = rules.begins.match(text, behind, end)
        number = _NUMBER.search(text, behind, begins.end()) if begins else None
        lines.append(
            _Line(
                start,
                start + len(text[start:end].rstrip()),
                behind - start,
                int(number.group()) if number else None,
                not text[start:end].strip(),
                rules.attached.match(text, behind, end) is not None,
                _NOTE.match(text, behind, end) is not None,
            )
        )
    return _without_code(lines, blocks)


def _without_code(lines: list[_Line], blocks: Sequence[Block]) -> list[_Line]:
    code = [block for block in blocks if block.kind in (BlockKind.CODE, BlockKind.HEADING)]
    place = 0
    kept = []
    for line in lines:
        while place < len(code) and code[place].end <= line.start:
            place += 1
        hidden = place < len(code) and code[place].start <= line.start
        kept.append(
            _Line(line.start, line.end, line.indent, None, line.blank, attached=False) if hidden else line
        )
    return kept


def _run(lines: Sequence[_Line], firsts: Sequence[int], stop: int, free: int) -> StepRun:
    """The run of the steps that begin at these lines, between the lines ``free`` and ``stop``."""
    begins = [
        _with_warnings(lines, first, floor) for first, floor in zip(firsts, [free, *firsts], strict=False)
    ]
    ends = [*begins[1:], _end_of_last(lines, firsts[-1], stop)]
    return StepRun(
        tuple(
            Step(lines[first].number or 0, lines[begin].start, _ink_end(lines, begin, end))
            for first, begin, end in zip(firsts, begins, ends, strict=True)
        )
    )


def _with_warnings(lines: Sequence[_Line], first: int, floor: int) -> int:
    """Where a step begins: with the paragraphs directly in front of it that begin with a warning's word."""
    begin = first
    for paragraph in _paragraphs_before(lines, first, floor):
        line = lines[paragraph]
        if not line.attached or (line.note and line.indent > lines[first].indent):
            break
        begin = paragraph
    return begin


def _paragraphs_before(lines: Sequence[_Line], first: int, floor: int) -> Iterator[int]:
    """First lines of the paragraphs before a line, the nearest first; they are parted by blank lines."""
    place = first - 1
    while place >= floor:
        while place >= floor and lines[place].blank:
            place -= 1
        after = place
        while place >= floor and not lines[place].blank:
            place -= 1
        if after > place and (place >= floor or floor == 0):
            yield place + 1


def _end_of_last(lines: Sequence[_Line], first: int, stop: int) -> int:
    """Behind the last step: its paragraph, and paragraphs that are indented deeper than the step."""
    place = first + 1
    while place < stop:
        if lines[place - 1].blank and not lines[place].blank and lines[place].indent <= lines[first].indent:
            break
        place += 1
    return place


def _ink_end(lines: Sequence[_Line], begin: int, end: int) -> int:
    return max(lines[place].end for place in range(begin, end) if not lines[place].blank)

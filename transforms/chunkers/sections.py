"""``sections``: each section by itself, cut to the target, and a procedure's steps kept together.

A run of steps in a document of a type that ``steps`` names is one chunk up to ``steps.ceiling``, and above it
as few as possible, cut between steps. The text around the run is cut like any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.chunkers.guard import PROTECTED
from transforms.chunkers.headings import split_sections
from transforms.chunkers.packing import clipped, pack_blocks
from transforms.model.chunk import Cut, CutKind
from transforms.model.document import BlockKind
from transforms.structure.steps import StepRules, step_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transforms.chunkers.settings import ChunkSettings
    from transforms.chunkers.size import Measure
    from transforms.chunkers.tools import Tools
    from transforms.model.document import Block, Document
    from transforms.structure.steps import Step, StepRun

DEEPEST = 6


def cut_sections(document: Document, settings: ChunkSettings, tools: Tools) -> list[Cut]:
    """The document's chunks: ordered, disjoint, all ink covered, none without ink."""
    protects = settings.steps.protects(settings.doc_type_of(document.metadata))
    measure_steps = tools.measures.up_to(settings.steps_ceiling) if protects else tools.measure
    cutter = _Cutter(document.text, settings, tools.measure, measure_steps)
    return [
        cut
        for section in split_sections(document.blocks, DEEPEST)
        for cut in cutter.cut(section, protects=protects)
    ]


class _Cutter:
    def __init__(
        self, text: str, settings: ChunkSettings, measure: Measure, measure_steps: Measure
    ) -> None:
        steps = settings.steps
        self._text = text
        self._settings = settings
        self._measure = measure
        self._measure_steps = measure_steps
        self._ceiling = settings.steps_ceiling
        self._rules = StepRules.of(steps.patterns, steps.attach, steps.min_run)
        self._floor = int(settings.size.min_fill * settings.size.target)

    def cut(self, section: Sequence[Block], *, protects: bool) -> list[Cut]:
        start, end = section[0].start, section[-1].end
        runs = step_runs(self._text, section, self._rules) if protects else []
        if self._measure(start, end) <= self._settings.size.target:
            return [self._whole(start, end, runs)]
        if not runs:
            return self._prose(section, start, end)
        cuts: list[Cut] = []
        for run in runs:
            lead = self._lead(section, start, run)
            if lead is None:
                cuts += self._prose(section, start, run.start)
            cuts += self._steps(section, run, run.start if lead is None else lead)
            start = run.end
        cuts += self._prose(section, start, end)
        return self._without_runts(cuts)

    def _whole(self, start: int, end: int, runs: Sequence[StepRun]) -> Cut:
        whole = Cut(start, end, CutKind.WHOLE)
        return _numbered(whole, runs[0].steps, runs[0].steps) if len(runs) == 1 else whole

    def _prose(self, section: Sequence[Block], start: int, end: int) -> list[Cut]:
        prose = clipped(self._text, section, start, end)
        return pack_blocks(self._text, prose, self._settings, self._measure)

    def _lead(self, section: Sequence[Block], start: int, run: StepRun) -> int | None:
        """Where a run begins that takes the text in front of it along; None if that stands by itself."""
        before = clipped(self._text, section, start, run.start)
        if not before:
            return None
        small = self._measure(before[0].start, before[-1].end) <= self._settings.size.target / 2
        fits = self._measure_steps(before[0].start, run.end) <= self._ceiling
        bare = all(block.kind is BlockKind.HEADING for block in before)
        return before[0].start if bare or (small and fits) else None

    def _steps(self, section: Sequence[Block], run: StepRun, start: int) -> list[Cut]:
        """A run as one chunk, or as few as the ceiling allows; a step over the ceiling is cut like text."""
        if self._measure_steps(start, run.end) <= self._ceiling:
            return [_numbered(Cut(start, run.end, CutKind.PROTECTED), run.steps, run.steps)]
        cuts: list[Cut] = []
        taken: list[Step] = []
        for step in run.steps:
            if taken and self._measure_steps(start, step.end) > self._ceiling:
                cuts += self._over_ceiling(section, start, taken, run)
                start, taken = step.start, []
            taken.append(step)
        return cuts + self._over_ceiling(section, start, taken, run)

    def _over_ceiling(
        self, section: Sequence[Block], start: int, steps: Sequence[Step], run: StepRun
    ) -> list[Cut]:
        end = steps[-1].end
        if self._measure_steps(start, end) <= self._ceiling:
            cuts = [Cut(start, end, CutKind.OVER_CEILING)]
        else:
            cuts = self._prose(section, start, end)
        return [_numbered(cut, steps, run.steps) for cut in cuts]

    def _without_runts(self, cuts: Sequence[Cut]) -> list[Cut]:
        """Join what is too small to stand alone to the chunk before it, where the bound of that allows."""
        joined: list[Cut] = []
        for cut in cuts:
            small = self._settings.size.merge_runts and self._measure(cut.start, cut.end) < self._floor
            if joined and small and cut.kind not in PROTECTED and self._joins(joined[-1], cut):
                joined[-1] = joined[-1]._replace(end=cut.end)
            else:
                joined.append(cut)
        return joined

    def _joins(self, before: Cut, cut: Cut) -> bool:
        if before.kind in PROTECTED:
            return self._measure_steps(before.start, cut.end) <= self._ceiling
        return self._measure(before.start, cut.end) <= self._settings.size.max


def _numbered(cut: Cut, steps: Sequence[Step], of: Sequence[Step]) -> Cut:
    return cut._replace(step_first=steps[0].number, step_last=steps[-1].number, step_total=len(of))

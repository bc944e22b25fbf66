"""Choose how two scores become one on one half of the questions, and see on the other half what that is worth.

A weight that was chosen on the questions that it is reported on looks better than it is.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Protocol

from pipeline.evaluate.ask import summary
from transforms.model.fusion import Fusion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipeline.evaluate.ask import Asked
    from transforms.evaluation.measures import Interval
    from transforms.evaluation.questions import Question
    from transforms.retrieval.fusion import By

LEAST = 10
"""Questions of a half: a weight that was chosen on fewer is chance."""
_METHODS = ("sum", "rrf")
_WEIGHTS = tuple(tenths / 10 for tenths in range(1, 10))
_OVER_SPANS, _OVER_DOCUMENTS = "span recall", "mrr"


class Ask(Protocol):
    """Asks the question of a number in one way; without a fusion, as the variant's job says."""

    def __call__(self, number: int, by: By, fusion: Fusion | None = None) -> Asked: ...


@dataclass(frozen=True, slots=True)
class Halves:
    """What was chosen for a variant, and how well it does on questions that had no part in that."""

    name: str
    default: Fusion
    """As the variant's job says."""
    fusion: Fusion
    measure: str
    """What it was chosen by: recall of spans where all questions have them, else the reciprocal rank."""
    chosen_on: int
    """Questions."""
    measured_on: int
    tried: tuple[tuple[Fusion, float], ...]
    """All that was tried, with the mean of the measure on the half that it was chosen on."""
    measures: Mapping[str, Mapping[str, Interval]]
    """Of `dense`, `sparse`, `hybrid` (as search does by default) and `chosen`."""

    @property
    def advice(self) -> str:
        """What to write into the job's configuration to keep what was chosen; "" where it says so already."""
        if self.fusion == self.default:
            return ""
        return f"search: {{fusion: {self.fusion.method}, weight: {self.fusion.weight}}}"


def chosen_on_one_half(
    name: str, default: Fusion, questions: Sequence[Question], ask: Ask, samples: int
) -> Halves | None:
    """Try all ways on one half, and measure the best on the other; None where there are too few questions.

    Args:
        name: of the variant.
        default: how it is searched by both where nothing else is said.
        questions: all of them; which half one is in depends on its words alone.
        ask: one of them.
        samples: of questions, for the intervals.
    """
    here = [number for number, one in enumerate(questions) if in_first_half(one.question)]
    there = sorted({*range(len(questions))} - {*here})
    if min(len(here), len(there)) < LEAST:
        return None
    measure = _OVER_SPANS if all(question.spans for question in questions) else _OVER_DOCUMENTS
    tried = tuple((fusion, _mean(fusion, here, ask, measure)) for fusion in _ways())
    best = min(tried, key=partial(_order, default))[0]
    ways: dict[str, tuple[By, Fusion]] = {
        "dense": ("dense", default),
        "sparse": ("sparse", default),
        "hybrid": ("hybrid", default),
        "chosen": ("hybrid", best),
    }
    measures = {
        way: summary([ask(number, by, fusion).measures for number in there], samples)
        for way, (by, fusion) in ways.items()
    }
    return Halves(name, default, best, measure, len(here), len(there), tried, measures)


def in_first_half(question: str) -> bool:
    """Half of all questions are, and each always is or never."""
    return hashlib.sha256(question.encode()).digest()[0] % 2 == 0


def _ways() -> list[Fusion]:
    return [Fusion(method, weight) for method in _METHODS for weight in _WEIGHTS]  # type: ignore[arg-type]


def _mean(fusion: Fusion, numbers: Sequence[int], ask: Ask, measure: str) -> float:
    # A span without a word, as a sign alone, has no recall.
    return fmean(ask(number, "hybrid", fusion).measures.get(measure, 0.0) for number in numbers)


def _order(default: Fusion, tried: tuple[Fusion, float]) -> tuple[float, bool, float]:
    """The best mean first; of equal ones the one that is most like the default."""
    fusion, mean = tried
    return -round(mean, 9), fusion.method != default.method, abs(fusion.weight - default.weight)

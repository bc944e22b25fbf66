"""The measures of retrieval, as functions of ranks and of sets of positions.

Over documents: recall at k, reciprocal rank and nDCG with binary relevance (Järvelin and Kekäläinen 2002, gain 1
and discount log2(rank + 1)). Over spans: recall, precision and intersection over union of the words that were
retrieved and those that answer, after B. Smith and A. Troynikov, "Evaluating chunking strategies for retrieval"
(Chroma, 2024); here at a fixed number of retrieved words, so that strategies with chunks of other sizes compare.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from numpy.typing import NDArray


def recall(relevant: Sequence[bool], wanted: int, k: int) -> float:
    """The share of ``wanted`` things that are among the first ``k`` of a ranking.

    Args:
        relevant: by rank whether what stands there is wanted; nothing stands in two places.
        wanted: how many there are, at least 1.
        k: how many places count.
    """
    return sum(relevant[:k]) / wanted


def reciprocal_rank(relevant: Sequence[bool]) -> float:
    """1 over the first rank that is relevant, from 1; 0 if none is."""
    return next((1 / rank for rank, hit in enumerate(relevant, 1) if hit), 0.0)


def ndcg(relevant: Sequence[bool], wanted: int, k: int) -> float:
    """Discounted gain of the first ``k`` places over that of the best possible ranking, 0 to 1."""
    gain = sum(1 / math.log2(rank + 1) for rank, hit in enumerate(relevant[:k], 1) if hit)
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(wanted, k) + 1))
    return gain / best


class Overlap(NamedTuple):
    """How far what was retrieved and what answers are the same words."""

    recall: float
    precision: float
    iou: float


def overlap(retrieved: Set[tuple[int, int]], answers: Set[tuple[int, int]]) -> Overlap:
    """Recall, precision and intersection over union of two sets of words, each a (document, position).

    Args:
        retrieved: may be empty.
        answers: at least one word.
    """
    both = len(retrieved & answers)
    return Overlap(
        recall=both / len(answers),
        precision=both / len(retrieved) if retrieved else 0.0,
        iou=both / len(retrieved | answers),
    )


class Interval(NamedTuple):
    """A mean over questions, and the middle 95% of the means of samples drawn from them."""

    mean: float
    low: float
    high: float


def bootstrap(values: Sequence[float], samples: int = 1000, seed: int = 0) -> Interval:
    """The mean with its percentile bootstrap interval (Efron 1979): how much of it is the luck of the questions.

    Args:
        values: one a question, at least one.
        samples: how many times as many questions are drawn, with repetition.
        seed: the same seed gives the same interval.
    """
    array: NDArray[np.float64] = np.asarray(values, dtype=np.float64)
    drawn = np.random.default_rng(seed).integers(0, len(array), (samples, len(array)))
    low, high = np.percentile(array[drawn].mean(axis=1), (2.5, 97.5))
    return Interval(float(array.mean()), float(low), float(high))

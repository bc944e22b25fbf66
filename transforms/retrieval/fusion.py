"""How the scores of two rankings become one: a sum of scores brought to one scale, or of reciprocal ranks.

The sum keeps how far apart two rows are and is a convex combination as S. Bruch, S. Gai and A. Ingber measured it, "An
analysis of fusion functions for hybrid retrieval" (2023): the sparse score from 0, its theoretical minimum, the dense
one from the lowest of all rows, each to the highest. Models differ in how near to each other they put texts that have
nothing in common, so a fixed minimum would give words more weight with one than with another. Reciprocal ranks (G.
Cormack, C. Clarke and S. Buettcher, 2009) look at the order alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from transforms.model.fusion import Fusion

By: TypeAlias = Literal["hybrid", "dense", "sparse"]
"""What a search goes by."""

CANDIDATES = 200
"""Rows that are kept for a question by each of the two scores. Others are in no fused ranking: one would have to
be far down in both and yet before rows that are far up in one."""
RRF_K = 60
"""The constant of reciprocal ranks in the paper, and the default of the stores that offer them."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Between what the scores of all rows lie, those too that a filter leaves out: so it changes no order."""

    lowest: float = np.inf
    """Of dense scores."""
    highest: float = -np.inf
    most: float = 0.0
    """Of sparse scores; the lowest is 0."""

    def over(self, dense: NDArray[np.float64], sparse: NDArray[np.float64]) -> Bounds:
        """These and those of more rows."""
        return Bounds(
            min(self.lowest, float(np.nanmin(dense, initial=np.inf))),
            max(self.highest, float(np.nanmax(dense, initial=-np.inf))),
            max(self.most, float(sparse.max(initial=0.0))),
        )


def fused(
    dense: NDArray[np.float64],
    sparse: NDArray[np.float64],
    ranks: tuple[NDArray[np.int64], NDArray[np.int64]],
    bounds: Bounds,
    fusion: Fusion,
) -> NDArray[np.float64]:
    """One score a row, the greater the better.

    Args:
        dense: cosines, NaN where a row has no vector.
        sparse: sums over terms, 0 where a row has none of them.
        ranks: of the rows by each of the two scores, from 1; 0 where a row is not among the first.
        bounds: of all rows.
        fusion: which way.
    """
    if fusion.method == "sum":
        return normalised_sum(dense, sparse, bounds, fusion.weight)
    return reciprocal_ranks(*ranks, fusion.weight)


def normalised_sum(
    dense: NDArray[np.float64], sparse: NDArray[np.float64], bounds: Bounds, weight: float
) -> NDArray[np.float64]:
    """``(1 - weight) * dense + weight * sparse``, both from 0 to 1; a row without a vector has 0 of the one."""
    near = _scaled(dense, bounds.lowest, bounds.highest)
    return (1 - weight) * near + weight * _scaled(sparse, 0.0, bounds.most)


def reciprocal_ranks(
    dense: NDArray[np.int64], sparse: NDArray[np.int64], weight: float, k: int = RRF_K
) -> NDArray[np.float64]:
    """``(1 - weight) / (k + dense) + weight / (k + sparse)`` of ranks from 1; what has rank 0 adds nothing."""
    return (1 - weight) * _reciprocal(dense, k) + weight * _reciprocal(sparse, k)


def ranks_of(scores: NDArray[np.float64], most: int = CANDIDATES) -> NDArray[np.int64]:
    """The rank of each row from 1, the first of equal ones first; 0 behind ``most``, and where a score is NaN."""
    order = np.argsort(-scores, kind="stable")[:most]
    order = order[np.isfinite(scores[order])]
    ranks = np.zeros(len(scores), np.int64)
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks


def _scaled(scores: NDArray[np.float64], lowest: float, highest: float) -> NDArray[np.float64]:
    finite = np.isfinite(scores)
    if highest <= lowest:
        # All are equal: they are all the best, unless the best is nothing.
        return np.where(finite & (scores != 0), 1.0, 0.0)
    return np.where(finite, (scores - lowest) / (highest - lowest), 0.0)


def _reciprocal(ranks: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    return np.where(ranks > 0, 1 / (k + ranks), 0.0)

"""Keep the best rows by each of two scores, however many rows go by, and rank them by both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
import pyarrow as pa

from transforms.model.fusion import DEFAULT, Fusion
from transforms.retrieval.fusion import CANDIDATES, Bounds, fused

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from transforms.retrieval.fusion import By

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ranked(Generic[T]):
    """A row with its scores and places; a rank is from 1, and None where the row is not among the first."""

    row: T
    score: float
    """What it is ranked by."""
    dense: float | None
    dense_rank: int | None
    sparse: float
    sparse_rank: int | None


class Candidates(Generic[T]):
    """The best rows for one question. Whatever the order of the rows and their batches, they are the same."""

    def __init__(self, most: int = CANDIDATES) -> None:
        """``most`` rows are kept by each of the two scores."""
        self._by_dense, self._by_sparse = _Best(most), _Best(most)
        self._rows: dict[str, tuple[float, float, T]] = {}
        self._bounds = Bounds()

    def add(
        self,
        dense: NDArray[np.float64],
        sparse: NDArray[np.float64],
        ids: pa.Array,
        row: Callable[[int], T],
        among: NDArray[np.bool_] | None = None,
    ) -> None:
        """Look at a batch of rows.

        Args:
            dense: cosines, NaN where a row has no vector.
            sparse: sums over terms, 0 where a row has none of them.
            ids: strings that tell rows apart and put equal ones in order.
            row: what is kept of the row at a place; asked for where a row is one of the best so far.
            among: which of them may be found; all, if None.
        """
        self._bounds = self._bounds.over(dense, sparse)
        if among is not None:
            dense, sparse = np.where(among, dense, np.nan), np.where(among, sparse, 0.0)
        places = self._by_dense.look(dense, ids) | self._by_sparse.look(
            np.where(sparse > 0, sparse, np.nan), ids
        )
        if not places:
            return
        kept = self._by_dense.ids | self._by_sparse.ids
        self._rows = {name: known for name, known in self._rows.items() if name in kept}
        for name, place in places.items():
            if name in kept:
                self._rows[name] = (float(dense[place]), float(sparse[place]), row(place))

    def ranking(self, by: By, fusion: Fusion = DEFAULT) -> list[Ranked[T]]:
        """All that were kept, the best first, equal ones by id."""
        ids = sorted(self._rows)
        dense = np.array([self._rows[name][0] for name in ids], np.float64)
        sparse = np.array([self._rows[name][1] for name in ids], np.float64)
        ranks = self._by_dense.ranks(ids), self._by_sparse.ranks(ids)
        if by == "hybrid":
            scores = fused(dense, sparse, ranks, self._bounds, fusion)
        else:
            one, rank = (dense, ranks[0]) if by == "dense" else (sparse, ranks[1])
            scores = np.where(rank > 0, one, np.nan)
        order = [
            place for place in np.argsort(-scores, kind="stable").tolist() if np.isfinite(scores[place])
        ]
        return [
            Ranked(
                self._rows[ids[place]][2],
                float(scores[place]),
                float(dense[place]) if np.isfinite(dense[place]) else None,
                int(ranks[0][place]) or None,
                float(sparse[place]),
                int(ranks[1][place]) or None,
            )
            for place in order
        ]


class _Best:
    """The best by one score: pairs of negative score and id, in order."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: list[tuple[float, str]] = []
        self.ids: frozenset[str] = frozenset()

    def look(self, scores: NDArray[np.float64], ids: pa.Array) -> dict[str, int]:
        """Put those of a batch that are among the best in their places; their ids with their places in the batch."""
        least = -self._found[-1][0] if len(self._found) == self._most else -np.inf
        places = np.flatnonzero(scores >= least)
        if len(places) > self._most:
            kth = np.partition(scores[places], -self._most)[-self._most]
            places = places[scores[places] >= kth]
        if not len(places):
            return {}
        names = ids.take(pa.array(places)).to_pylist()
        new = zip((-scores[places]).tolist(), names, strict=True)
        self._found = sorted([*self._found, *new])[: self._most]
        self.ids = frozenset(name for _, name in self._found)
        return {name: place for name, place in zip(names, places.tolist(), strict=True) if name in self.ids}

    def ranks(self, ids: list[str]) -> NDArray[np.int64]:
        """Of each id its rank from 1, or 0."""
        known = {name: rank for rank, (_, name) in enumerate(self._found, 1)}
        return np.array([known.get(name, 0) for name in ids], np.int64)

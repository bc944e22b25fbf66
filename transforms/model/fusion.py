"""How one score is made of two: which way, and how much words count beside vectors. It imports nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Method: TypeAlias = Literal["sum", "rrf"]


@dataclass(frozen=True, slots=True)
class Fusion:
    """Which way, and how much the sparse ranking counts: 0 not at all, 1 alone."""

    method: Method = "sum"
    weight: float = 0.4

    def changed(self, method: Method | None, weight: float | None) -> Fusion:
        """This one, but for what is given."""
        return Fusion(method or self.method, self.weight if weight is None else weight)

    def __str__(self) -> str:
        name = "sum" if self.method == "sum" else "reciprocal ranks"
        return f"{name}, {self.weight:.2f} sparse"


DEFAULT = Fusion()
"""Of a table whose job says nothing else. Measured: `docs/hybrid.md`."""

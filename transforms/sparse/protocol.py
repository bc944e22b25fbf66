"""What every sparse encoder offers, whatever stands behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

GREATEST_ID = 2**32 - 2
"""The greatest id of a term: stores of sparse vectors keep ``2**32 - 1`` for themselves."""


@dataclass(frozen=True, slots=True)
class SparseVectors:
    """A sparse vector a text, one behind the other.

    Those of text ``n`` are ``indices[offsets[n]:offsets[n + 1]]``, ascending and each once, with their
    ``values``, none of which is zero. A text without terms has none.
    """

    offsets: NDArray[np.int64]
    indices: NDArray[np.uint32]
    values: NDArray[np.float32]


class SparseEncoder(Protocol):
    """Turns texts into sparse vectors. Built once a process, before its first use."""

    name: str
    """Name and version, as ``bm25@1-``, with a fingerprint of all that decides a vector."""
    weighed: bool
    """Whether a query multiplies each term with its inverse document frequency; the table's vectors never hold it."""

    def encode(self, texts: Sequence[str]) -> SparseVectors:
        """The vectors of texts as they are stored. The same text has the same bits alone and in any batch.

        Raises:
            ParquetryError: the encoder cannot be used at all.
        """

    def query(self, text: str) -> SparseVectors:
        """The one vector of a question: the weights of its terms, without inverse document frequencies."""


@runtime_checkable
class NamesTerms(Protocol):
    """An encoder that can say what the terms of a question are called."""

    def names(self, text: str) -> dict[int, str]:
        """The terms of a question by their ids."""

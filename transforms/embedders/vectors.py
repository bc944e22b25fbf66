"""What is done to vectors after a model gave them: told from none, shortened, scaled, stored in less."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_LARGEST_INT8 = 127
_TEXTS_ENOUGH = 8
"""So many different texts that have one vector are no chance."""
_WORDS_ENOUGH = 3
"""Shorter texts may be all unknown words to a model, and one to it."""


def usable(vectors: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which rows are vectors: finite, and not zero throughout."""
    finite = np.asarray(np.isfinite(vectors).all(axis=1), dtype=np.bool_)
    return np.asarray(finite & np.asarray(vectors.any(axis=1)), dtype=np.bool_)


def one_for_all(texts: Sequence[str], vectors: NDArray[np.float32]) -> bool:
    """Whether many texts that differ all got the same vector, bit for bit: what gave it does not look at them."""
    if len(texts) < _TEXTS_ENOUGH or not usable(vectors[:1])[0] or not (vectors == vectors[0]).all():
        return False
    differ = {text for text in texts if len(text.split()) >= _WORDS_ENOUGH}
    return len(differ) >= _TEXTS_ENOUGH


def finished(vectors: NDArray[np.float32], dimension: int, *, normalise: bool) -> NDArray[np.float32]:
    """The first ``dimension`` numbers of each row, at length 1 if asked for; NaN where that is no vector."""
    result = np.ascontiguousarray(vectors[:, :dimension])
    result[~usable(result)] = np.nan
    return at_length_one(result) if normalise else result


def at_length_one(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each row divided by its length, which is summed in float64."""
    wide = vectors.astype(np.float64)
    lengths: NDArray[np.float64] = np.sqrt(np.add.reduce(wide * wide, axis=1))
    return np.divide(wide, lengths[:, None]).astype(np.float32)


def as_int8(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Each row scaled by a factor of its own so that its largest number is 127 or -127, and rounded.

    Cosines stay within rounding. A row needs no other row: it has the same bytes in any batch.
    """
    wide = vectors.astype(np.float64)
    largest = np.abs(wide).max(axis=1, keepdims=True)
    return np.asarray(np.rint(wide * (_LARGEST_INT8 / largest)), dtype=np.int8)


def as_bits(vectors: NDArray[np.float32]) -> NDArray[np.uint8]:
    """A bit a number, 1 where it is above zero, the first number in the highest bit of the first byte."""
    return np.asarray(np.packbits(vectors > 0, axis=1))

"""Whether a server reads texts to their end: with another end, a text has another vector.

Some servers cut what is too long for their model and say nothing of it. Where nobody has said how long a text may be,
the longest ones are asked for once more with other words at their end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHORTEST = 2_000
"""Characters of a text that is worth asking for: models of the smallest usual input, 512 tokens, may cut it."""
_SHARE = 5
"""The last part of so many is replaced: who reads less than the rest is noticed."""
_SAME = 1e-4
"""Cosine distance of vectors of one text in half precision, at most; of another end it is a hundred times that."""
_WORDS = "zebra violin harbour copper lantern orchid thunder velvet "


class TailTest:
    """Which texts to ask for once more: one in a process, and another one for each that is twice as long."""

    def __init__(self) -> None:
        self._longest = SHORTEST // 2

    def is_due(self, text: str) -> bool:
        """Whether this text is so much longer than the last one that was asked for; it counts as asked for then."""
        if len(text) < 2 * self._longest:
            return False
        self._longest = len(text)
        return True


def with_other_end(text: str) -> str:
    """The text with other words in place of its last part, at the same length."""
    tail = len(text) // _SHARE
    return text[: len(text) - tail] + (_WORDS * (tail // len(_WORDS) + 1))[:tail]


def same_direction(one: NDArray[np.float32], other: NDArray[np.float32]) -> bool:
    """Whether two vectors are those of one text, but for rounding."""
    left, right = one.astype(np.float64), other.astype(np.float64)
    lengths = float(np.sqrt(np.dot(left, left) * np.dot(right, right)))
    return bool(lengths and 1 - float(np.dot(left, right)) / lengths < _SAME)

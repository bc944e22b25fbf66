"""How large a span is: in characters, or in tokens that were counted once for the whole text."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from transforms.embedders.protocol import TokenCounter


class Measure(Protocol):
    """Sizes of spans of one text."""

    def __call__(self, start: int, end: int) -> int:
        """The size of ``text[start:end]``."""


def in_characters(start: int, end: int) -> int:
    """Code points."""
    return end - start


def in_tokens(text: str, counter: TokenCounter) -> Measure:
    """Tokens of ``counter`` that begin inside the span."""
    starts = [start for start, _ in counter.offsets(text)]

    def measure(start: int, end: int) -> int:
        return bisect_left(starts, end) - bisect_left(starts, start)

    return measure


def both(first: Measure, limit: int, second: Measure, other_limit: int) -> Measure:
    """The larger share of two limits, in units of the first: what fits it fits both."""

    def measure(start: int, end: int) -> int:
        other = second(start, end)
        # Rounded up, so that the bound in the other unit is never passed by rounding.
        return max(first(start, end), -(-other * limit // other_limit))

    return measure

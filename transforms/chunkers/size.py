"""How large a span is: in characters, or in tokens that were counted once for the whole text.

A measure also says how far a span of a given size reaches, so that whoever packs need not search for it.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from transforms.embedders.protocol import TokenCounter


class Measure(Protocol):
    """Sizes of spans of one text. Positions may lie behind its end."""

    def __call__(self, start: int, end: int) -> int:
        """The size of ``text[start:end]``."""

    def reach(self, start: int, size: int) -> int:
        """The last end for which ``text[start:end]`` has at most ``size``."""

    def tail(self, end: int, size: int) -> int:
        """The first start for which ``text[start:end]`` has at most ``size``; never under 0."""


class Characters:
    """Code points."""

    def __call__(self, start: int, end: int) -> int:
        return end - start

    def reach(self, start: int, size: int) -> int:
        return start + size

    def tail(self, end: int, size: int) -> int:
        return max(0, end - size)


class Tokens:
    """Tokens of a counter that begin inside the span."""

    def __init__(self, text: str, counter: TokenCounter) -> None:
        self._starts = [start for start, _ in counter.offsets(text)]
        self._end = len(text)

    def __call__(self, start: int, end: int) -> int:
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)

    def reach(self, start: int, size: int) -> int:
        place = bisect_left(self._starts, start) + size
        return self._starts[place] if place < len(self._starts) else max(start, self._end)

    def tail(self, end: int, size: int) -> int:
        place = bisect_left(self._starts, end) - size - 1
        return self._starts[place] + 1 if place >= 0 else 0


class Both:
    """The larger share of two limits, in units of the first: what fits it fits both."""

    def __init__(self, first: Measure, limit: int, second: Measure, other_limit: int) -> None:
        self._first, self._limit = first, limit
        self._second, self._other_limit = second, other_limit

    def __call__(self, start: int, end: int) -> int:
        # Rounded up, so that the bound in the other unit is never passed by rounding.
        other = -(-self._second(start, end) * self._limit // self._other_limit)
        return max(self._first(start, end), other)

    def reach(self, start: int, size: int) -> int:
        return min(self._first.reach(start, size), self._second.reach(start, self._other(size)))

    def tail(self, end: int, size: int) -> int:
        return max(self._first.tail(end, size), self._second.tail(end, self._other(size)))

    def _other(self, size: int) -> int:
        return size * self._other_limit // self._limit


class Measures:
    """The measures of one text, whose tokens are counted once and only if they are asked for."""

    def __init__(
        self, text: str, unit: Literal["chars", "tokens"], counter: TokenCounter, max_tokens: int | None
    ) -> None:
        self._text, self._unit, self._counter, self._max_tokens = text, unit, counter, max_tokens
        self._tokens: Tokens | None = None

    def up_to(self, limit: int) -> Measure:
        """Sizes in the unit, so that what is within ``limit`` can be read by the model too."""
        bound = self._max_tokens
        first = self.tokens if self._unit == "tokens" else Characters()
        if bound is None or (self._unit == "tokens" and bound >= limit):
            return first
        return Both(first, limit, self.tokens, bound)

    @property
    def tokens(self) -> Tokens:
        """In the model's tokens."""
        if self._tokens is None:
            self._tokens = Tokens(self._text, self._counter)
        return self._tokens

"""How large a span is: in characters, or in tokens that were counted once for the whole text.

A measure also says how far a span of a given size reaches, so that whoever packs need not search for it.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from transforms.embedders.protocol import PlacesTokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transforms.embedders.protocol import TokenCounter


Unit: TypeAlias = Literal["chars", "tokens"]

_BYTES_A_CHARACTER = 4
"""In UTF-8, at most. No tokenizer makes more tokens of a text than it has bytes."""


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
        self._starts = token_starts(counter, text)
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


def token_starts(counter: TokenCounter, text: str) -> list[int]:
    """Where each token begins."""
    if isinstance(counter, PlacesTokens):
        return counter.starts(text)
    return [start for start, _ in counter.offsets(text)]


class Remembering:
    """A counter that counts each text of a document once, whoever asks."""

    def __init__(self, counter: TokenCounter) -> None:
        self.name = counter.name
        self._counter = counter
        self._counts: dict[str, int] = {}

    def count(self, texts: Sequence[str]) -> list[int]:
        known = self._counts
        unseen = [text for text in texts if text not in known]
        if unseen:
            known.update(zip(unseen, self._counter.count(unseen), strict=True))
        return [known[text] for text in texts]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return self._counter.offsets(text)

    def starts(self, text: str) -> list[int]:
        return token_starts(self._counter, text)


class Measures:
    """The measures of one text, whose tokens are placed once and only if they are asked for."""

    def __init__(
        self,
        text: str,
        unit: Unit,
        counter: TokenCounter,
        max_tokens: int | None,
        model: TokenCounter | None = None,
    ) -> None:
        """``counter`` is what sizes are counted by, ``model`` what the model's input is, if that is another."""
        self._text, self._unit, self._counter, self._max_tokens = text, unit, counter, max_tokens
        self._model = counter if model is None else model
        self._placed: dict[int, Tokens] = {}

    def up_to(self, limit: int) -> Measure:
        """Sizes in the unit, so that what is within ``limit`` can be read by the model too."""
        bound = self._max_tokens
        first = self.of(self._unit)
        if bound is None or bound >= self._most_tokens(limit):
            return first
        return Both(first, limit, self._tokens(self._model), bound)

    def of(self, unit: Unit) -> Measure:
        """Sizes in a unit, whatever the model."""
        return self._tokens(self._counter) if unit == "tokens" else Characters()

    def _most_tokens(self, limit: int) -> float:
        """As the model counts them, in a span within a limit."""
        if self._unit == "chars":
            return limit * _BYTES_A_CHARACTER
        return limit if self._counter is self._model else float("inf")

    def _tokens(self, counter: TokenCounter) -> Tokens:
        if id(counter) not in self._placed:
            self._placed[id(counter)] = Tokens(self._text, counter)
        return self._placed[id(counter)]

"""What becomes of a text that is longer than a model's input: its parts, its beginning, or a refusal."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from transforms.embedders.protocol import TokenCounter
    from transforms.embedders.settings import TooLong

TEXT_TOO_LONG = "text_too_long"
"""Reason of a refusal."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What is embedded for a text, whole or in part, with its prefix."""

    row: int
    whole: str
    """The text as it was given."""
    text: str
    tokens: int


def pieces_of(
    texts: Sequence[str],
    counter: TokenCounter,
    max_tokens: int | None,
    policy: TooLong,
    prefix: str,
    refuse: Callable[[str, str, str], None],
) -> Iterator[Piece]:
    """The pieces of all texts in order, none over ``max_tokens`` but for its prefix; none of a blank text.

    Args:
        texts: each one's place is its row.
        counter: of the model's tokens.
        max_tokens: what the model takes besides the prefix; None: anything.
        policy: for a text over that.
        prefix: put before each piece.
        refuse: is told text, reason and detail of one that is refused.
    """
    before = counter.count([prefix])[0]
    for row, (text, tokens) in enumerate(zip(texts, counter.count(texts), strict=True)):
        if not text.strip():
            continue
        if max_tokens is None or tokens <= max_tokens:
            yield Piece(row, text, prefix + text, before + tokens)
        elif policy == "error":
            refuse(text, TEXT_TOO_LONG, f"{tokens:,} tokens are over the model's {max_tokens:,}")
        else:
            parts = parts_within(text, counter, max_tokens)
            for part in parts[:1] if policy == "truncate" else parts:
                yield Piece(row, text, prefix + part, before + counter.count([part])[0])


def parts_within(text: str, counter: TokenCounter, most: int) -> list[str]:
    """The text cut between tokens into parts of about equal length, none over ``most`` tokens.

    Parts are counted again: a text cut in two can have more tokens than it had whole.
    """
    if counter.count([text])[0] <= most or len(text) < 2:
        return [text]
    spans = counter.offsets(text)
    count = -(-len(spans) // most)
    edges = {spans[len(spans) * part // count][0] for part in range(1, count)} - {0, len(text)}
    if not edges:
        edges = {len(text) // 2}
    cuts = [0, *sorted(edges), len(text)]
    parts = [text[start:end] for start, end in pairwise(cuts)]
    return [small for part in parts for small in parts_within(part, counter, most) if small.strip()]


def put_together(
    rows: int, pieces: Sequence[Piece], vectors: NDArray[np.float32], dimension: int
) -> NDArray[np.float32]:
    """One row a text: its vector as it came, or the mean of its parts' weighted by their tokens."""
    result = np.full((rows, dimension), np.nan, dtype=np.float32)
    places: dict[int, list[int]] = {}
    for place, piece in enumerate(pieces):
        places.setdefault(piece.row, []).append(place)
    for row, parts in places.items():
        if len(parts) == 1:
            result[row] = vectors[parts[0]]
        else:
            weights = np.array([pieces[place].tokens for place in parts], dtype=np.float64)
            result[row] = np.add.reduce(vectors[parts] * weights[:, None]) / weights.sum()
    return result

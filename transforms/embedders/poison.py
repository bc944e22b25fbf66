"""Find the texts that a request fails for, so that all others get their vectors.

A failed request is cut in two until the text that it fails for is alone, and so is one that the budget does
not reach for, until it does. The number of requests spent on that is bounded.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from transforms.embedders.protocol import StoppedError
from transforms.embedders.request import ContentError
from transforms.model.errors import BudgetReachedError, ParquetryError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

MOST_REQUESTS = 200
"""Requests for one batch: enough for a dozen bad texts among 2,048."""

_SHOWN = 3


def embed_around_poison(
    texts: Sequence[str],
    dimension: int,
    ask: Callable[[Sequence[str]], NDArray[np.float32]],
    pieces: Callable[[Sequence[str], ContentError], int],
    is_to_blame: Callable[[ContentError], bool],
) -> tuple[NDArray[np.float32], dict[str, ContentError]]:
    """Vectors of all texts that can be embedded; NaN and a refusal for each that cannot.

    Args:
        texts: those of one request.
        dimension: length of a vector.
        ask: embeds some of them, or raises ContentError.
        pieces: how many parts to cut a request into that failed so (two or more).
        is_to_blame: whether a text that failed so alone is, and not the server or the parameters.

    Raises:
        StoppedError: the budget does not reach for the next text; the error has the vectors until there.
        ParquetryError: every request fails, or too many are needed.
    """
    vectors = np.full((len(texts), dimension), np.nan, dtype=np.float32)
    refusals: dict[str, ContentError] = {}
    todo = [(0, len(texts))]
    spent = 0
    said: set[str] = set()
    while todo:
        first, last = todo.pop()
        spent += 1
        if spent > MOST_REQUESTS:
            raise ParquetryError(
                f"More than {MOST_REQUESTS} requests were needed for one batch of {len(texts)} texts, "
                f"{len(refusals)} of which were refused; the failures say: {'; '.join(sorted(said)[:_SHOWN])}. "
                "If it is the number of texts that is too much at once, set max_items."
            )
        try:
            vectors[first:last] = ask(texts[first:last])
        except ContentError as error:
            said.add(error.detail)
            if last - first > 1:
                count = min(pieces(texts[first:last], error), last - first)
                todo.extend(reversed(_cut(first, last, count)))
                continue
            if not is_to_blame(error):
                raise ParquetryError(f"The embedding model refuses every text: {error.detail}") from error
            refusals[texts[first]] = error
        except BudgetReachedError as error:
            if last - first == 1:
                raise StoppedError(error, vectors) from error
            todo.extend(reversed(_cut(first, last, 2)))
    return vectors, refusals


def _cut(first: int, last: int, count: int) -> list[tuple[int, int]]:
    edges = np.linspace(first, last, count + 1).astype(int).tolist()
    return list(pairwise(edges))

"""Put texts through an embedder in batches, and believe nothing that it gives back unchecked."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from transforms.embedders.protocol import StoppedError
from transforms.embedders.vectors import one_for_all, usable
from transforms.model.errors import GuardError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from transforms.embedders.protocol import Embedder, Task


def embed_distinct(
    embedder: Embedder,
    texts: Sequence[str],
    batch_items: int | None = None,
    batch_tokens: int | None = None,
    task: Task = "document",
) -> NDArray[np.float32]:
    """One row a text, in the order given: shape ``[len(texts), embedder.dimension]``.

    Each distinct text is embedded once, in batches of similar length: at most ``batch_items`` texts
    (the embedder's own number where it is left out) and ``batch_tokens`` tokens, or one text. A row is
    NaN throughout where the text has no vector; zeros and numbers that are not finite are none either.

    Raises:
        GuardError: the embedder gave another number of rows or another dimension than it promised, or one vector
            for all of many texts.
        StoppedError: it stopped before the end; the error has what there is.
    """
    distinct = sorted(set(texts), key=lambda text: (len(text), text))
    vectors = np.full((len(distinct), embedder.dimension), np.nan, dtype=np.float32)
    items = batch_items or embedder.batch_items
    stopped: StoppedError | None = None
    for first, last in _batches(embedder, distinct, items, batch_tokens):
        batch = distinct[first:last]
        try:
            found = embedder.embed(batch, task)
        except StoppedError as error:
            stopped, found = error, error.vectors
        vectors[first:last] = _checked(found, batch, embedder)
        if stopped is not None:
            break
    vectors[~usable(vectors)] = np.nan
    row_of = {text: row for row, text in enumerate(distinct)}
    result: NDArray[np.float32] = vectors[[row_of[text] for text in texts]]
    if stopped is not None:
        raise StoppedError(stopped.cause, result) from stopped
    return result


def _batches(
    embedder: Embedder, texts: Sequence[str], batch_items: int, batch_tokens: int | None
) -> Iterator[tuple[int, int]]:
    if not texts:
        return
    if batch_tokens is None:
        cuts = [*range(0, len(texts), batch_items), len(texts)]
    else:
        cuts = _cuts(embedder.counter.count(texts), batch_items, batch_tokens)
    yield from pairwise(cuts)


def _cuts(sizes: Sequence[int], batch_items: int, batch_tokens: int) -> list[int]:
    cuts, tokens = [0], 0
    for place, size in enumerate(sizes):
        items = place - cuts[-1]
        if items and (items >= batch_items or tokens + size > batch_tokens):
            cuts.append(place)
            tokens = 0
        tokens += size
    return [*cuts, len(sizes)]


def _checked(vectors: NDArray[np.float32], texts: Sequence[str], embedder: Embedder) -> NDArray[np.float32]:
    items = len(texts)
    if vectors.shape != (items, embedder.dimension):
        raise GuardError(
            f"Nothing was published: the embedder {embedder.name} gave an array of shape {vectors.shape} "
            f"for {items} texts; ({items}, {embedder.dimension}) was promised."
        )
    if one_for_all(texts, vectors):
        raise GuardError(
            f"Nothing was published: the embedder {embedder.name} gave one and the same vector for {items} texts "
            "that differ."
        )
    return vectors

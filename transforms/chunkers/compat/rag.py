"""The second system: sentences are grouped where their meaning turns, and large groups are split again."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from transforms.chunkers.compat.spans import Joined, Span, ink

Embed: TypeAlias = Callable[[Sequence[str]], ArrayLike]
Vectors: TypeAlias = NDArray[np.floating]

DEFAULT_SEPARATORS = ("\n\n", "\n", " ", "")

_SENTENCE_END = re.compile(r"(?<=[.?!])\s+")


@dataclass(frozen=True, slots=True)
class RagSettings:
    """What the system was called with; sizes are in characters.

    Raises:
        ValueError: a size under 1, or an overlap that is not between 0 and the size.
    """

    chunk_size: int
    chunk_overlap: int
    percentile: float
    separators: tuple[str, ...] = DEFAULT_SEPARATORS

    def __post_init__(self) -> None:
        """Refuse what the system refused on entry; the percentile is checked by its arithmetic."""
        if self.chunk_size < 1:
            raise ValueError(f"chunk_size must be at least 1, got {self.chunk_size}")
        if not 0 <= self.chunk_overlap <= self.chunk_size:
            raise ValueError(f"chunk_overlap must be between 0 and chunk_size, got {self.chunk_overlap}")


@dataclass(frozen=True, slots=True)
class Groups:
    """How a text fell into sentences, and the sentences into groups."""

    sentences: tuple[Span, ...]
    distances: tuple[float, ...]
    """One between each sentence and the next, so one fewer than sentences."""
    threshold: float | None
    """None where a text is one sentence and nothing was compared."""
    groups: tuple[Span, ...]
    """First sentence and the one after the last, of each group."""


@dataclass(frozen=True, slots=True)
class RagChunk:
    """A chunk: ``text`` is stored and embedded, and equals the source at ``span`` but for white space."""

    text: str
    span: Span
    group: int
    fallback: bool
    """It is part of a group that was too large."""


def semantic_chunks(text: str, settings: RagSettings, embed: Embed) -> list[RagChunk]:
    """Group a text's sentences by meaning, then hold every group to the size.

    Raises:
        ValueError: the percentile is not between 0 and 100, and the text has two sentences.
    """
    found = semantic_groups(text, settings.percentile, embed)
    chunks = []
    for number, (first, after) in enumerate(found.groups):
        group = Joined(text, found.sentences[first:after], " ")
        pieces = split_oversize(group.text, settings)
        fallback = len(group.text) > settings.chunk_size
        chunks += [
            RagChunk(group.text[start:end], group.span(start, end), number, fallback)
            for start, end in pieces
        ]
    return chunks


def semantic_groups(text: str, percentile: float, embed: Embed) -> Groups:
    """Sentences of a text, and the groups between whose windows the meaning turns."""
    sentences = split_sentences(text)
    if len(sentences) < 2:
        return Groups(tuple(sentences), (), None, ((0, 1),) if sentences else ())
    distances = window_distances(np.asarray(embed(windows(text, sentences))))
    threshold = float(np.percentile(distances, percentile))
    groups = group_sentences(distances, threshold)
    return Groups(tuple(sentences), tuple(distances), threshold, tuple(groups))


def split_sentences(text: str) -> list[Span]:
    """Spans between the runs of white space that follow a full stop, a question or an exclamation mark."""
    trimmed = ink(text, 0, len(text))
    if trimmed is None:
        return []
    start, end = trimmed
    sentences = []
    for gap in _SENTENCE_END.finditer(text, start, end):
        sentences.append((start, gap.start()))
        start = gap.end()
    return [*sentences, (start, end)]


def windows(text: str, sentences: Sequence[Span]) -> list[str]:
    """Each sentence with its neighbours, joined by single spaces: what is embedded to compare them."""
    texts = [text[start:end] for start, end in sentences]
    return [" ".join(texts[max(0, i - 1) : i + 2]) for i in range(len(texts))]


def window_distances(vectors: Vectors) -> list[float]:
    """One minus the cosine similarity of each vector and the next; without a direction it is 1.

    Pair by pair and not as one product, because the break is a strict comparison and equal pairs must
    give equal bits.
    """
    norms = np.linalg.norm(vectors, axis=1)
    distances = []
    with np.errstate(divide="ignore", invalid="ignore"):
        for i in range(len(vectors) - 1):
            products = np.dot(vectors[i : i + 1], vectors[i + 1 : i + 2].T)
            similarity = (products / np.outer(norms[i : i + 1], norms[i + 1 : i + 2])).item()
            distances.append(1 - (similarity if np.isfinite(similarity) else 0.0))
    return distances


def group_sentences(distances: Sequence[float], threshold: float) -> list[Span]:
    """End a group after each sentence whose distance to the next is strictly over the threshold."""
    ends = [i + 1 for i, distance in enumerate(distances) if distance > threshold]
    return list(zip([0, *ends], [*ends, len(distances) + 1], strict=True))


def split_oversize(text: str, settings: RagSettings) -> list[Span]:
    """The text as one span if it fits, else split at separators, coarse ones first."""
    if len(text) <= settings.chunk_size:
        return [(0, len(text))]
    return _split(text, (0, len(text)), settings.separators or DEFAULT_SEPARATORS, settings)


def _split(text: str, part: Span, separators: Sequence[str], settings: RagSettings) -> list[Span]:
    separator, finer = _choose(text, part, separators)
    chunks: list[Span] = []
    small: list[Span] = []
    for piece in _pieces(text, part, separator):
        if piece[1] - piece[0] < settings.chunk_size:
            small.append(piece)
            continue
        chunks += _merge(text, small, settings)
        small = []
        chunks += _split(text, piece, finer, settings) if finer else [piece]
    return chunks + _merge(text, small, settings)


def _choose(text: str, part: Span, separators: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The first separator that occurs, and those left for the pieces it makes."""
    for place, separator in enumerate(separators):
        if not separator:
            return separator, ()
        if text.find(separator, *part) >= 0:
            return separator, separators[place + 1 :]
    return separators[-1], ()


def _pieces(text: str, part: Span, separator: str) -> list[Span]:
    """Cut before every occurrence of the separator; before every character if it is empty."""
    start, end = part
    if not separator:
        return [(i, i + 1) for i in range(start, end)]
    cuts = [start]
    found = text.find(separator, start, end)
    while found >= 0:
        cuts.append(found)
        found = text.find(separator, found + len(separator), end)
    return [(a, b) for a, b in zip(cuts, [*cuts[1:], end], strict=True) if a < b]


def _merge(text: str, pieces: Sequence[Span], settings: RagSettings) -> list[Span]:
    """Pack neighbouring pieces up to the size, each chunk taking whole pieces of the one before along."""
    chunks = []
    first = 0
    total = 0
    for place, (start, end) in enumerate(pieces):
        length = end - start
        if total + length > settings.chunk_size and first < place:
            chunks.append(ink(text, pieces[first][0], start))
            while total > settings.chunk_overlap or (total and total + length > settings.chunk_size):
                total -= pieces[first][1] - pieces[first][0]
                first += 1
        total += length
    if first < len(pieces):
        chunks.append(ink(text, pieces[first][0], pieces[-1][1]))
    return [chunk for chunk in chunks if chunk is not None]

"""Vectors without a model: numbers from a hash of the text, for tests and benchmarks.

They cost next to nothing and mean nothing, so that what remains of a run's time is the job's own.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from transforms.embedders.protocol import Task
    from transforms.embedders.settings import HashSettings

CHARS_A_TOKEN = 4


def build(settings: HashSettings) -> HashEmbedder:
    return HashEmbedder(settings.dimension, settings.max_tokens)


def recipe(settings: HashSettings) -> str:
    return f"{_name(settings.dimension)} task:none dimension:{settings.dimension}"


class HashEmbedder:
    """Equal texts get equal vectors of length 1; a text of white space only has none."""

    batch_items = 4096

    def __init__(self, dimension: int, max_tokens: int | None = None) -> None:
        self.name = _name(dimension)
        self.dimension = dimension
        self.max_tokens = max_tokens
        self.counter = CharCounter()

    def embed(self, texts: Sequence[str], task: Task = "document") -> NDArray[np.float32]:  # noqa: ARG002
        vectors = np.full((len(texts), self.dimension), np.nan, dtype=np.float32)
        for row, text in enumerate(texts):
            if text.strip():
                vectors[row] = self._vector(text)
        return vectors

    def _vector(self, text: str) -> NDArray[np.float64]:
        digest = hashlib.shake_256(text.encode()).digest(2 * self.dimension)
        # Odd numbers, so that no text gets a vector of zeros.
        numbers = np.frombuffer(digest, dtype="<i2").astype(np.float64) * 2 + 1
        length = float(np.sqrt(np.add.reduce(numbers * numbers)))
        return numbers / length


class CharCounter:
    """Every four code points are a token."""

    name = f"chars/{CHARS_A_TOKEN}"

    def count(self, texts: Sequence[str]) -> list[int]:
        return [-(-len(text) // CHARS_A_TOKEN) for text in texts]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        size = len(text)
        return [(at, min(at + CHARS_A_TOKEN, size)) for at in range(0, size, CHARS_A_TOKEN)]


def _name(dimension: int) -> str:
    return f"hash-{dimension}@1"

"""The embedder in the package: the mean of a text's word-piece vectors, exact to the bit.

The model and what it is good for are described in ``data/static-en-256/MODEL_CARD.md``.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from transforms.embedders.files import read_pinned
from transforms.embedders.wordpieces import WordPieceCounter, load_tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from transforms.embedders.protocol import Task
    from transforms.embedders.settings import StaticSettings

NAME = "static-en-256@1"
DIMENSION = 256
UNKNOWN = "[UNK]"

_FOLDER = Path(__file__).parent / "data" / "static-en-256"
_SHA256 = {
    "model.npz": "4a001e2484ff3cf7069c301fd82fe043d715fe855132e8dcdb78ab93ec680a62",
    "tokenizer.json": "dd33465341c98889c3338356b6200c8b232b89af5f1b7aa8e6ee1d4d7a699631",
}
_AT_ONCE = 2048
"""Tokens of one text added in one go. A product of an int8 and a float32 scale of this table is a
multiple of 2^-39 below 2^3, so a sum of 2,048 of them fits a float64 without rounding: whatever order
the processor adds them in, the bits are the same."""


def build(settings: StaticSettings) -> StaticEmbedder:  # noqa: ARG001 - every embedder's signature
    """Load the model: 8 MB, some 50 ms."""
    tokenizer = load_tokenizer(read_pinned(_FOLDER / "tokenizer.json", _SHA256["tokenizer.json"]))
    with np.load(io.BytesIO(read_pinned(_FOLDER / "model.npz", _SHA256["model.npz"]))) as model:
        return StaticEmbedder(tokenizer, model["table"], model["scale"])


def recipe(settings: StaticSettings) -> str:  # noqa: ARG001 - every embedder's signature
    files = " ".join(f"{name}:{sha256}" for name, sha256 in _SHA256.items())
    return f"{NAME} {files} task:none dimension:{DIMENSION}"


class StaticEmbedder:
    """Mean of the rows of the pieces that the model knows, at length 1. Queries as documents."""

    name = NAME
    dimension = DIMENSION
    max_tokens = None
    batch_items = 1024

    def __init__(self, tokenizer: Tokenizer, table: NDArray[np.int8], scale: NDArray[np.float32]) -> None:
        self.counter = WordPieceCounter("static-en-256", tokenizer)
        self._unknown = tokenizer.token_to_id(UNKNOWN)
        self._table = table
        self._scale = scale.astype(np.float64)

    def embed(self, texts: Sequence[str], task: Task = "document") -> NDArray[np.float32]:  # noqa: ARG002
        vectors = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for row, ids in enumerate(self.counter.pieces.ids(texts)):
            vectors[row] = self._mean(ids)
        return vectors

    def _mean(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        pieces = ids[ids != self._unknown]
        if not len(pieces):
            return np.full(DIMENSION, np.nan)
        total = np.zeros(DIMENSION)
        for first in range(0, len(pieces), _AT_ONCE):
            part = pieces[first : first + _AT_ONCE]
            total += np.einsum("i,ij->j", self._scale[part], self._table[part])
        mean = total / len(pieces)
        length = np.sqrt(np.add.reduce(mean * mean))
        return mean / length if length else np.full(DIMENSION, np.nan)

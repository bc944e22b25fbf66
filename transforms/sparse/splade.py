"""SPLADE: a masked language model says how much each word piece of its vocabulary belongs to a text.

The weight of a piece is ``log(1 + max(0, x))`` of its greatest output over all tokens; ids are those of the tokenizer.
What the model has learned includes how telling a piece is, so a query is encoded as a text is, and weighs nothing more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from transforms.embedders.transformer import Transformer, for_each, open_session, read_files
from transforms.embedders.wordpieces import load_tokenizer
from transforms.model.errors import ParquetryError
from transforms.model.ids import fingerprint
from transforms.sparse.protocol import SparseVectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from transforms.embedders.share import Share
    from transforms.sparse.settings import SpladeSettings

_VERSION = 1


def build(settings: SpladeSettings, share: Share) -> Splade:
    """Load the model of a folder.

    Raises:
        ParquetryError: ONNX Runtime is not installed, a file is missing, or the model is of another kind.
    """
    files = read_files(settings.model_path)
    model = Transformer(
        load_tokenizer(files.tokenizer),
        open_session(files.model),
        settings.max_tokens,
        "masked language model's",
        "a number for each token and each word piece",
    )
    if model.window < 1:
        raise ParquetryError(
            f"max_tokens = {settings.max_tokens} of {files.name} leaves no room for any text"
        )
    return Splade(name(settings), model, settings.threads or share.cores)


def name(settings: SpladeSettings) -> str:
    """The encoder's name, without loading the model."""
    return f"splade@{_VERSION}-{fingerprint(recipe(settings))[:12]}"


def recipe(settings: SpladeSettings) -> str:
    """Everything that decides a vector."""
    return f"splade@{_VERSION} {read_files(settings.model_path).recipe} max_tokens:{settings.max_tokens}"


class Splade:
    """A text longer than the model's input has of each word piece the greatest weight of its parts."""

    weighed = False

    def __init__(self, name: str, model: Transformer, threads: int) -> None:
        self.name = name
        self._model = model
        self._threads = threads

    def encode(self, texts: Sequence[str]) -> SparseVectors:
        rows: list[NDArray[np.float32]] = [np.empty(0, np.float32)] * len(texts)

        def fill(row: int) -> None:
            rows[row] = self._weights(texts[row])

        for_each(texts, self._threads, fill)
        pieces = [np.flatnonzero(row).astype(np.uint32) for row in rows]
        weights = [row[found] for row, found in zip(rows, pieces, strict=True)]
        return SparseVectors(
            np.cumsum([0, *map(len, pieces)], dtype=np.int64),
            np.concatenate([np.empty(0, np.uint32), *pieces]),
            np.concatenate([np.empty(0, np.float32), *weights]),
        )

    def query(self, text: str) -> SparseVectors:
        return self.encode([text])

    def names(self, text: str) -> dict[int, str]:
        return {one: self._model.piece(one) for one in self.query(text).indices.tolist()}

    def _weights(self, text: str) -> NDArray[np.float32]:
        """A weight a word piece; the greatest first and then its logarithm, which is the same and less work."""
        greatest = np.zeros(self._model.width, np.float32)
        for part in self._model.parts(self._model.ids(text)):
            np.maximum(greatest, self._model.run(part).max(axis=0), out=greatest)
        return np.log1p(greatest)

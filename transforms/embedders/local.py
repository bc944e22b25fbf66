"""What embedders that run a model of somebody else in this process have in common.

Texts of similar length go together, long ones in parts, and what comes back is checked like a server's answer.
A text that makes the model raise is found and refused alone, as one that a server refuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from transforms.embedders.lengths import pieces_of, put_together
from transforms.embedders.poison import embed_around_poison
from transforms.embedders.request import ContentError
from transforms.embedders.vectors import finished
from transforms.model.errors import ParquetryError
from transforms.model.ids import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from transforms.embedders.lengths import Piece
    from transforms.embedders.protocol import Task, TokenCounter
    from transforms.embedders.settings import BeamSettings, SentenceTransformersSettings, TooLong

MODEL_FAILED = "model_failed"
"""Reason of a refusal: the model raised an error for the text."""
_PROBE = "parquetry"
"""Embedded to tell a bad text from a model that embeds nothing."""
_SHOWN = 200


class LocalEmbedder:
    """A model as a function from texts to rows.

    Args:
        settings: prefixes, texts in one call of ``run``, what becomes of the rows and of texts that are too long.
        name: of the model and its version, with all that decides a vector.
        run: a row for each text, in order; shape ``[n, length]``.
        length: of the rows that ``run`` gives; vectors are their first ``settings.dimension`` numbers.
        counter: of the model's tokens.
        max_tokens: the model's input without special tokens; None: no bound.
    """

    def __init__(
        self,
        settings: SentenceTransformersSettings | BeamSettings,
        *,
        name: str,
        run: Callable[[Sequence[str]], NDArray[np.float32]],
        length: int,
        counter: TokenCounter,
        max_tokens: int | None,
    ) -> None:
        self.name = name
        self.dimension = settings.dimension or length
        self.counter = counter
        self._prefixes: dict[Task, str] = {
            "document": settings.document_prefix,
            "query": settings.query_prefix,
        }
        prefixed = max(counter.count(list(self._prefixes.values())))
        self.max_tokens = None if max_tokens is None else max_tokens - prefixed
        self.batch_items = settings.batch_items
        self.too_long: TooLong = settings.too_long
        self._run = run
        self._length = length
        self._normalise = settings.normalise
        self._refused: dict[str, tuple[str, str]] = {}

    def embed(self, texts: Sequence[str], task: Task = "document") -> NDArray[np.float32]:
        prefix = self._prefixes[task]
        pieces = list(pieces_of(texts, self.counter, self.max_tokens, self.too_long, prefix, self._refuse))
        order = sorted(range(len(pieces)), key=lambda place: pieces[place].tokens)
        vectors = np.empty((len(pieces), self._length), dtype=np.float32)
        for first in range(0, len(order), self.batch_items):
            batch = order[first : first + self.batch_items]
            vectors[batch] = self._embed_batch([pieces[place] for place in batch])
        whole = put_together(len(texts), pieces, vectors, self._length)
        return finished(whole, self.dimension, normalise=self._normalise)

    def refusal(self, text: str) -> tuple[str, str] | None:
        """Reason and detail for a text that was refused; None for any other."""
        return self._refused.get(sha256_hex(text))

    def _embed_batch(self, pieces: Sequence[Piece]) -> NDArray[np.float32]:
        """A row a piece, NaN for one that the model fails on. A batch that is too much for it is cut, too."""
        texts = [piece.text for piece in pieces]
        vectors, refused = embed_around_poison(
            texts, self._length, self._checked, lambda _, __: 2, lambda _: self._works()
        )
        for piece in pieces:
            if piece.text in refused:
                self._refuse(piece.whole, refused[piece.text].reason, refused[piece.text].detail)
        return vectors

    def _works(self) -> bool:
        try:
            self._checked([_PROBE])
        except ContentError:
            return False
        return True

    def _checked(self, texts: Sequence[str]) -> NDArray[np.float32]:
        try:
            rows = np.asarray(self._run(texts), dtype=np.float32)
        except ParquetryError:
            raise
        except Exception as error:
            # It is somebody else's model, and may raise anything.
            said = f"{type(error).__name__}: {' '.join(str(error).split())[:_SHOWN]}".rstrip(": ")
            raise ContentError(MODEL_FAILED, said) from error
        if rows.shape != (len(texts), self._length):
            raise ParquetryError(
                f"The model {self.name} gave an array of shape {rows.shape} for {len(texts)} texts; "
                f"({len(texts)}, {self._length}) is configured."
            )
        return rows

    def _refuse(self, text: str, reason: str, detail: str) -> None:
        self._refused[sha256_hex(text)] = (reason, detail)

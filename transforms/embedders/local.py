"""What embedders that run a model of somebody else in this process have in common.

Texts of similar length go together, long ones in parts, and what comes back is checked like a server's answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from transforms.embedders.lengths import pieces_of, put_together
from transforms.embedders.vectors import finished
from transforms.model.errors import ParquetryError
from transforms.model.ids import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from transforms.embedders.protocol import Task, TokenCounter
    from transforms.embedders.settings import TooLong


class LocalEmbedder:
    """A model as a function from texts to rows.

    Args:
        name: of the model and its version, with all that decides a vector.
        run: a row for each text, in order; shape ``[n, length]``.
        length: of the rows that ``run`` gives.
        dimension: of the vectors: the first numbers of a row.
        counter: of the model's tokens.
        max_tokens: the model's input without special tokens; None: no bound.
        prefixes: by task, put before each text.
        batch_items: texts in one call of ``run``, at most.
        normalise: scale vectors to length 1.
        too_long: what becomes of a text over ``max_tokens``.
    """

    def __init__(
        self,
        *,
        name: str,
        run: Callable[[Sequence[str]], NDArray[np.float32]],
        length: int,
        dimension: int,
        counter: TokenCounter,
        max_tokens: int | None,
        prefixes: dict[Task, str],
        batch_items: int,
        normalise: bool,
        too_long: TooLong,
    ) -> None:
        self.name = name
        self.dimension = dimension
        self.counter = counter
        prefixed = max(counter.count(list(prefixes.values())))
        self.max_tokens = None if max_tokens is None else max_tokens - prefixed
        self.batch_items = batch_items
        self.too_long = too_long
        self._run = run
        self._length = length
        self._prefixes = prefixes
        self._normalise = normalise
        self._refused: dict[str, tuple[str, str]] = {}

    def embed(self, texts: Sequence[str], task: Task = "document") -> NDArray[np.float32]:
        prefix = self._prefixes[task]
        pieces = list(pieces_of(texts, self.counter, self.max_tokens, self.too_long, prefix, self._refuse))
        order = sorted(range(len(pieces)), key=lambda place: pieces[place].tokens)
        vectors = np.empty((len(pieces), self._length), dtype=np.float32)
        for first in range(0, len(order), self.batch_items):
            batch = order[first : first + self.batch_items]
            vectors[batch] = self._checked([pieces[place].text for place in batch])
        whole = put_together(len(texts), pieces, vectors, self._length)
        return finished(whole, self.dimension, normalise=self._normalise)

    def refusal(self, text: str) -> tuple[str, str] | None:
        """Reason and detail for a text that was refused; None for any other."""
        return self._refused.get(sha256_hex(text))

    def _checked(self, texts: list[str]) -> NDArray[np.float32]:
        rows = np.asarray(self._run(texts), dtype=np.float32)
        if rows.shape != (len(texts), self._length):
            raise ParquetryError(
                f"The model {self.name} gave an array of shape {rows.shape} for {len(texts)} texts; "
                f"({len(texts)}, {self._length}) is configured."
            )
        return rows

    def _refuse(self, text: str, reason: str, detail: str) -> None:
        self._refused[sha256_hex(text)] = (reason, detail)

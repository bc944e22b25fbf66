"""What every embedder offers, whatever stands behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from transforms.model.errors import ParquetryError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from transforms.embedders.settings import TooLong

NOT_FINITE = "vector_not_finite"
"""Reason of a refusal: the model gave the text zeros, or numbers that are not finite."""

Task: TypeAlias = Literal["document", "query"]


class TokenCounter(Protocol):
    """Counts and places the tokens of a text, as the model will see them."""

    name: str

    def count(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text, special tokens left out."""

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """The half-open span in code points of each token, in order."""


@runtime_checkable
class PlacesTokens(Protocol):
    """What a counter has besides, if it knows where tokens begin without a tuple for each."""

    def starts(self, text: str) -> list[int]:
        """The start in code points of each token, in order: the first of each pair of ``offsets``."""


class Embedder(Protocol):
    """A model that turns texts into vectors. Built once a process, before its first use."""

    name: str
    """The model's name and version, as ``static-en-256@1``: part of the recipe and of each row."""
    dimension: int
    max_tokens: int | None
    """The model's input in its own tokens, special tokens left out; None where there is no bound."""
    counter: TokenCounter
    batch_items: int
    """Texts that one call of ``embed`` takes best: an adapter of a server cuts its own requests."""

    def embed(self, texts: Sequence[str], task: Task = "document") -> NDArray[np.float32]:
        """One row a text, in the order given: shape ``[len(texts), dimension]``.

        A text that has no vector (the model knows none of its words) gets a row of NaN and shifts no
        other. The same text gives the same bits alone and in any batch.

        Raises:
            ParquetryError: the embedder cannot be used at all.
        """


class StoppedError(ParquetryError):
    """An embedder stopped before the end; what it has by then is not lost.

    ``vectors`` has a row a text as ``embed`` would, NaN where there is none yet. ``cause`` says why.
    """

    def __init__(self, cause: ParquetryError, vectors: NDArray[np.float32]) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.exit_code = cause.exit_code
        self.vectors = vectors


@runtime_checkable
class RefusesTexts(Protocol):
    """What an embedder has besides, if it can refuse a text that others like it would take."""

    def refusal(self, text: str) -> tuple[str, str] | None:
        """Why this process got no vector for a text, as reason (a slug) and detail; None if it did."""


@runtime_checkable
class GivesNotice(Protocol):
    """What an embedder has besides, if it notices things that a person should know of the whole run."""

    def notices(self) -> list[str]:
        """Sentences that are new since this was last asked."""


@runtime_checkable
class TakesLongTexts(Protocol):
    """What an embedder has besides, if it embeds a text over ``max_tokens`` in some way."""

    too_long: TooLong


@runtime_checkable
class HoldsConnections(Protocol):
    """What an embedder has besides, if it talks to a server."""

    def close(self) -> None:
        """Give the connections back."""

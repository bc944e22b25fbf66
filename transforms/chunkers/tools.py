"""What a strategy is, and what it may use besides the document and its settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from transforms.chunkers.settings import ChunkSettings
    from transforms.chunkers.size import Measure, Measures
    from transforms.model.chunk import Cut
    from transforms.model.document import Document

Embed: TypeAlias = Callable[[Sequence[str]], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Tools:
    """For one document."""

    measure: Measure
    """In ``size.unit``, up to ``size.max``."""
    measures: Measures
    """For other limits."""
    embed: Embed | None = None
    """One row a text: shape ``[len(texts), dimension]``, NaN where a text has no vector."""


class Strategy(Protocol):
    """Where to cut a document."""

    def __call__(self, document: Document, settings: ChunkSettings, tools: Tools) -> list[Cut]:
        """Cuts in order, disjoint, each with ink, and all ink of the document in one of them.

        They hold to ``size.max`` as far as ``tools.measure`` can tell; a guard has the last word.
        """

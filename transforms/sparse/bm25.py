"""BM25's term part: how much a text says of each of its terms, whatever other texts say.

The other part, how rare a term is, belongs to the query: it changes with every text that comes or goes. The average
length is a setting for the same reason.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import Stemmer

from transforms.model.ids import fingerprint
from transforms.sparse.analysis import VERSION
from transforms.sparse.protocol import SparseVectors
from transforms.sparse.settings import settings_to_json
from transforms.sparse.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from transforms.embedders.share import Share
    from transforms.sparse.settings import BM25Settings


def build(settings: BM25Settings, share: Share) -> BM25:  # noqa: ARG001 - every encoder's signature
    """The encoder of these settings."""
    return BM25(settings)


def name(settings: BM25Settings) -> str:
    """The encoder's name, without building it."""
    return f"bm25@{VERSION}-{fingerprint(recipe(settings))[:12]}"


def recipe(settings: BM25Settings) -> str:
    """Everything that decides a vector: rules, stemmers and settings."""
    return f"bm25@{VERSION} snowball:{Stemmer.version()} {settings_to_json(settings)}"


class BM25:
    """``tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average))`` for each term of a text.

    ``tf`` is how often the text has the term, ``length`` how many terms it has in all.
    """

    weighed = True

    def __init__(self, settings: BM25Settings) -> None:
        self.name = name(settings)
        self._settings = settings
        self._vocabulary = Vocabulary(settings.languages, settings.stop_words)

    def encode(self, texts: Sequence[str]) -> SparseVectors:
        counts, lengths = self._counted(texts)
        often, rows = counts.values.astype(np.float64), np.diff(counts.offsets)
        k1, b = self._settings.k1, self._settings.b
        norms = k1 * (1 - b + b * lengths / self._settings.average)
        values = often * (k1 + 1) / (often + np.repeat(norms, rows))
        return SparseVectors(counts.offsets, counts.indices, values.astype(np.float32))

    def query(self, text: str) -> SparseVectors:
        return self._counted([text])[0]

    def names(self, text: str) -> dict[int, str]:
        return self._vocabulary.names(text)

    def _counted(self, texts: Sequence[str]) -> tuple[SparseVectors, NDArray[np.int64]]:
        """How often each text has each of its terms, and how many terms it has in all."""
        ids = [*map(self._vocabulary.ids, texts)]
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        # One number that orders by text, then by term.
        keys = np.repeat(np.arange(len(ids), dtype=np.uint64) << np.uint64(32), lengths)
        keys |= np.fromiter(chain.from_iterable(ids), np.uint64, int(lengths.sum()))
        keys, counts = np.unique(keys, return_counts=True)
        starts = np.arange(len(ids) + 1, dtype=np.uint64) << np.uint64(32)
        offsets = np.searchsorted(keys, starts).astype(np.int64)
        indices = (keys & np.uint64(2**32 - 1)).astype(np.uint32)
        return SparseVectors(offsets, indices, counts.astype(np.float32)), lengths

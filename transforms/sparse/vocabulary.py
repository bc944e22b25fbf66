"""The ids of a text's terms: a stable hash of each, remembered by the pieces of text that they came from."""

from __future__ import annotations

import hashlib
from itertools import chain
from typing import TYPE_CHECKING

from transforms.sparse.analysis import SIGNS_AROUND, Analyzer
from transforms.sparse.protocol import GREATEST_ID

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transforms.sparse.settings import Language

PIECES_HELD = 2**17
"""Pieces whose terms are remembered, some 40 MB: more than a corpus says again and again."""
_LONGEST_HELD = 200
"""Characters of a piece that may come again; a longer one is an address, or a paragraph without spaces."""


class Vocabulary:
    """Terms as numbers. Threads may share one: at worst they find the same terms twice.

    Args:
        languages: see :class:`~transforms.sparse.analysis.Analyzer`.
        stop_words: likewise.
    """

    def __init__(self, languages: Sequence[Language], stop_words: Sequence[str]) -> None:
        self._analyzer = Analyzer(languages, stop_words)
        self._pieces = _Remembered(self._analyzer)

    def ids(self, text: str) -> list[int]:
        """The id of each term in order, of a term that comes twice two."""
        return [*chain.from_iterable(map(self._pieces.__getitem__, text.split()))]

    def names(self, text: str) -> dict[int, str]:
        """The text's terms by their ids; of two with one id the first."""
        pieces = (piece.strip(SIGNS_AROUND) for piece in text.split())
        found: dict[int, str] = {}
        for term in chain.from_iterable(map(self._analyzer.terms, pieces)):
            found.setdefault(term_id(term), term)
        return found


class _Remembered(dict[str, tuple[int, ...]]):
    """Pieces with the ids of their terms, found out when first asked for."""

    def __init__(self, analyzer: Analyzer) -> None:
        super().__init__()
        self._analyzer = analyzer

    def __missing__(self, piece: str) -> tuple[int, ...]:
        bare = piece.strip(SIGNS_AROUND)
        ids = tuple(map(term_id, self._analyzer.terms(piece))) if bare == piece else self[bare]
        if len(piece) <= _LONGEST_HELD:
            if len(self) >= PIECES_HELD:
                self.clear()
            self[piece] = ids
        return ids


def term_id(term: str) -> int:
    """A number from 0 to ``GREATEST_ID``, the same for the same term everywhere and for good."""
    digest = hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % (GREATEST_ID + 1)

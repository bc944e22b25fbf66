"""The ids of a text's terms: a stable hash of each, remembered by what they were made of.

A piece of text is made of names, a name of words and a word of stems. New pieces bring fewer new names, and these still
fewer new words: each is taken apart once.
"""

from __future__ import annotations

import hashlib
from itertools import chain
from typing import TYPE_CHECKING

from transforms.sparse.analysis import Analyzer, names_of, pieces_of
from transforms.sparse.protocol import GREATEST_ID

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from transforms.sparse.settings import Language

PIECES_HELD = 2**17
"""Pieces of text, names and words whose terms are remembered, some 80 MB: more than a corpus says again and again."""
_LONGEST_HELD = 200
"""Characters of a piece that may come again; a longer one is an address, or a paragraph without spaces."""


class Vocabulary:
    """Terms as numbers. Threads may share one: at worst they find the same terms twice.

    Args:
        languages: see :class:`~transforms.sparse.analysis.Analyzer`.
        stop_words: likewise.
    """

    def __init__(self, languages: Sequence[Language], stop_words: Sequence[str]) -> None:
        analyzer = self._analyzer = Analyzer(languages, stop_words)
        words = _Remembered(lambda word: tuple(map(term_id, analyzer.stems(word))))
        names = _Remembered(lambda name: _joined(words, analyzer.words_of(name)))
        self._pieces = _Remembered(lambda piece: _joined(names, names_of(piece)))

    def ids(self, text: str) -> list[int]:
        """The id of each term in order, of a term that comes twice two."""
        return [*chain.from_iterable(map(self._pieces.__getitem__, pieces_of(text)))]

    def names(self, text: str) -> dict[int, str]:
        """The text's terms by their ids; of two with one id the first."""
        found: dict[int, str] = {}
        for term in chain.from_iterable(map(self._analyzer.terms, pieces_of(text))):
            found.setdefault(term_id(term), term)
        return found


class _Remembered(dict[str, tuple[int, ...]]):
    """Ids by what they were made of, found out when first asked for."""

    def __init__(self, find: Callable[[str], tuple[int, ...]]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, text: str) -> tuple[int, ...]:
        ids = self._find(text)
        if len(text) <= _LONGEST_HELD:
            if len(self) >= PIECES_HELD:
                self.clear()
            self[text] = ids
        return ids


def _joined(known: _Remembered, parts: Sequence[str]) -> tuple[int, ...]:
    """The ids of all parts; of one part the very same, which takes no more memory."""
    return known[parts[0]] if len(parts) == 1 else tuple(chain.from_iterable(map(known.__getitem__, parts)))


def term_id(term: str) -> int:
    """A number from 0 to ``GREATEST_ID``, the same for the same term everywhere and for good."""
    digest = hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % (GREATEST_ID + 1)

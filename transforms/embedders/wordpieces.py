"""Count and place tokens as a model's own tokenizer cuts them."""

from __future__ import annotations

import os
import threading
from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from tokenizers import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray
    from tokenizers import Encoding

BATCH = 128
"""Texts tokenised in one call: enough to hide the call, few enough to hold their tokens."""

WORDS_HELD = 2**17
"""Words whose pieces are remembered, some 30 MB: more than a corpus says again and again."""

_WORDS_AT_ONCE = 2**13
_Found = TypeVar("_Found")


def load_tokenizer(file: bytes) -> Tokenizer:
    """The tokenizer in the bytes of a ``tokenizer.json``, without truncation and padding.

    It works on one core: work is spread over processes, and its own threads do not survive a fork.
    Whoever has set ``TOKENIZERS_PARALLELISM`` is left alone.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    tokenizer = Tokenizer.from_buffer(file)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def encode_all(tokenizer: Tokenizer, texts: Sequence[str]) -> Iterator[Encoding]:
    """Each text's tokens in order, special ones left out; offsets are not filled in."""
    for first in range(0, len(texts), BATCH):
        batch = list(texts[first : first + BATCH])
        yield from tokenizer.encode_batch_fast(batch, add_special_tokens=False)


class WordPieces:
    """The pieces of texts, each word of them cut once.

    A word-piece tokenizer of BERT's kind cuts at white space before anything else, so the pieces of a text are
    those of its words, one after the other. A text says most of its words again, and so do the text of a chunk,
    what is embedded for it and the context of the next one.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        # Of the pieces of each word: ids, as the bytes of int32, and how many.
        self._ids: dict[str, bytes] = {}
        self._counts: dict[str, int] = {}
        # One embedder serves all threads of a process, and one of them may clear what another looks up.
        self._lock = threading.Lock()

    def ids(self, texts: Sequence[str]) -> Iterator[NDArray[np.int32]]:
        """The ids of each text's pieces, in order, special ones left out."""
        for found in self._looked_up(texts, lambda words: b"".join(map(self._ids.__getitem__, words))):
            yield np.frombuffer(found, dtype=np.int32)

    def counts(self, texts: Sequence[str]) -> list[int]:
        """The number of pieces of each text."""
        return list(self._looked_up(texts, lambda words: sum(map(self._counts.__getitem__, words))))

    def spans(self, text: str) -> NDArray[np.int64]:
        """Where each piece begins and ends in the text: shape ``[pieces, 2]``."""
        words = _words(text)
        cut = self._cut(list(dict.fromkeys(words)))
        inside = {word: np.array(spans).reshape(-1, 2) - begin for word, _, spans, begin in cut}
        begins = np.cumsum([0, *(len(word) + 1 for word in words)])
        placed = [inside[word] + at for word, at in zip(words, begins, strict=False)]
        return np.concatenate(placed).astype(np.int64)

    def starts(self, text: str) -> list[int]:
        """Where pieces begin; spread evenly over each word, of which only their number is remembered."""

        def of(words: list[str]) -> list[int]:
            lengths = np.fromiter(map(len, words), np.int64, len(words))
            counts = np.fromiter(map(self._counts.__getitem__, words), np.int64, len(words))
            begins = np.cumsum(lengths + 1) - lengths - 1
            inside = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
            shares = inside * np.repeat(lengths, counts) // np.repeat(np.maximum(counts, 1), counts)
            starts: list[int] = (np.repeat(begins, counts) + shares).tolist()
            return starts

        return next(self._looked_up([text], of))

    def _looked_up(self, texts: Sequence[str], of: Callable[[list[str]], _Found]) -> Iterator[_Found]:
        """What ``of`` finds for the words of each text, all of which are known to it."""
        for first in range(0, len(texts), BATCH):
            of_texts = list(map(_words, texts[first : first + BATCH]))
            with self._lock:
                try:
                    found = [of(words) for words in of_texts]
                except KeyError:
                    self._learn(of_texts)
                    found = [of(words) for words in of_texts]
            yield from found

    def _learn(self, of_texts: Iterable[list[str]]) -> None:
        if len(self._ids) > WORDS_HELD:
            self._ids.clear()
            self._counts.clear()
        unseen = {word: None for words in of_texts for word in words if word not in self._ids}
        for word, ids, _, _ in self._cut(list(unseen)):
            self._ids[word] = array("i", ids).tobytes()
            self._counts[word] = len(ids)

    def _cut(self, words: Sequence[str]) -> Iterator[tuple[str, list[int], list[tuple[int, int]], int]]:
        """Each word, its pieces' ids and places, and where it begins itself in what these are places of.

        Many words go in one call, which costs as much as ten.
        """
        for first in range(0, len(words), _WORDS_AT_ONCE):
            batch = words[first : first + _WORDS_AT_ONCE]
            encoding = self._tokenizer.encode(" ".join(batch), add_special_tokens=False)
            ids, spans = encoding.ids, encoding.offsets
            begin = piece = 0
            for word in batch:
                end = begin + len(word) + 1
                after = bisect_left(spans, (end, end), piece)
                yield word, ids[piece:after], spans[piece:after], begin
                begin, piece = end, after


def _words(text: str) -> list[str]:
    """A word ends at a space or line break; other white space stays inside, and is cut there."""
    return text.replace("\n", " ").split(" ")


class TokenizerCounter:
    """A :class:`~transforms.embedders.protocol.TokenCounter` over a tokenizer of any kind.

    Line breaks are tokens, or parts of them, to many tokenizers: texts are counted whole.
    """

    def __init__(self, name: str, tokenizer: Tokenizer) -> None:
        self.name = name
        self._tokenizer = tokenizer

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(encoding) for encoding in encode_all(self._tokenizer, texts)]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).offsets)


class WordPieceCounter:
    """A :class:`~transforms.embedders.protocol.TokenCounter` over a tokenizer of BERT's kind."""

    def __init__(self, name: str, tokenizer: Tokenizer) -> None:
        self.name = name
        self.pieces = WordPieces(tokenizer)
        self._tokenizer = tokenizer

    def count(self, texts: Sequence[str]) -> list[int]:
        return self.pieces.counts(texts)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [(start, end) for start, end in self.pieces.spans(text).tolist()]

    def starts(self, text: str) -> list[int]:
        return self.pieces.starts(text)

"""Count and place tokens as a model's own tokenizer cuts them."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from tokenizers import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray
    from tokenizers import Encoding

BATCH = 128
"""Texts tokenised in one call: enough to hide the call, few enough to hold their tokens."""

MAX_HELD = 2**24
"""Characters of words whose pieces are remembered: more than any language has."""

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
    what is embedded for it and the context of the next one: to look a word up takes a fiftieth of cutting it.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        # Of the pieces of each word: ids as int32, where each begins and ends in it as int64, how many.
        self._ids: dict[str, bytes] = {}
        self._spans: dict[str, bytes] = {}
        self._counts: dict[str, int] = {}
        self._held = 0
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

        def of(words: list[str]) -> NDArray[np.int64]:
            inside = b"".join(map(self._spans.__getitem__, words))
            lengths = np.fromiter(map(len, words), np.int64, len(words)) + 1
            counts = np.fromiter(map(self._counts.__getitem__, words), np.int64, len(words))
            begins = np.repeat(np.cumsum(lengths) - lengths, counts)
            return np.frombuffer(inside, dtype=np.int64).reshape(-1, 2) + begins[:, None]

        return next(self._looked_up([text], of))

    def _looked_up(self, texts: Sequence[str], of: Callable[[list[str]], _Found]) -> Iterator[_Found]:
        """What ``of`` finds for the words of each text, all of which are known to it."""
        for first in range(0, len(texts), BATCH):
            # A word ends at a space or line break; other white space stays inside, and is cut there.
            of_texts = [text.replace("\n", " ").split(" ") for text in texts[first : first + BATCH]]
            with self._lock:
                try:
                    found = [of(words) for words in of_texts]
                except KeyError:
                    self._learn(set().union(*of_texts))
                    found = [of(words) for words in of_texts]
            yield from found

    def _learn(self, words: set[str]) -> None:
        if self._held > MAX_HELD:
            for known in (self._ids, self._spans, self._counts):
                known.clear()
            self._held = 0
        unseen = list(words.difference(self._ids))
        for first in range(0, len(unseen), BATCH):
            batch = unseen[first : first + BATCH]
            encodings = self._tokenizer.encode_batch(batch, add_special_tokens=False)
            for word, encoding in zip(batch, encodings, strict=True):
                self._ids[word] = np.asarray(encoding.ids, dtype=np.int32).tobytes()
                self._spans[word] = np.asarray(encoding.offsets, dtype=np.int64).tobytes()
                self._counts[word] = len(encoding)
                self._held += len(word)


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
        starts: list[int] = self.pieces.spans(text)[:, 0].tolist()
        return starts

"""Count and place tokens as a model's own tokenizer cuts them."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import numpy as np
from tokenizers import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from tokenizers import Encoding

BATCH = 128
"""Texts tokenised in one call: enough to hide the call, few enough to hold their tokens."""

MAX_HELD = 2**25
"""Characters of lines whose pieces are remembered: more than a shard has."""


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
    """The pieces of texts, each line of them cut once.

    A word-piece tokenizer of BERT's kind cuts at white space before anything else, so the pieces of a text are
    those of its lines, one after the other. A chunk's text, what is embedded for it and the context of the next
    chunk share their lines; what was cut for counting is there again for embedding.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._lines: dict[str, NDArray[np.int32]] = {}
        self._held = 0
        # One embedder serves all threads of a process, and one of them may clear what another looks up.
        self._lock = threading.Lock()

    def ids(self, texts: Sequence[str]) -> Iterator[NDArray[np.int32]]:
        """The ids of each text's pieces, in order, special ones left out."""
        for first in range(0, len(texts), BATCH):
            of_texts = [text.split("\n") for text in texts[first : first + BATCH]]
            with self._lock:
                self._cut([line for lines in of_texts for line in lines])
                found = [np.concatenate([self._lines[line] for line in lines]) for lines in of_texts]
            yield from found

    def counts(self, texts: Sequence[str]) -> list[int]:
        """The number of pieces of each text."""
        counts = []
        for first in range(0, len(texts), BATCH):
            of_texts = [text.split("\n") for text in texts[first : first + BATCH]]
            with self._lock:
                self._cut([line for lines in of_texts for line in lines])
                counts += [sum(len(self._lines[line]) for line in lines) for lines in of_texts]
        return counts

    def _cut(self, lines: list[str]) -> None:
        if self._held > MAX_HELD:
            self._lines.clear()
            self._held = 0
        unseen = list(dict.fromkeys(line for line in lines if line not in self._lines))
        for line, encoding in zip(unseen, encode_all(self._tokenizer, unseen), strict=True):
            self._lines[line] = np.asarray(encoding.ids, dtype=np.int32)
            self._held += len(line)


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
        return list(self._tokenizer.encode(text, add_special_tokens=False).offsets)

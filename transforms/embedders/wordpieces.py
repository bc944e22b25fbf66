"""Count and place tokens as a model's own tokenizer cuts them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tokenizers import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tokenizers import Encoding

BATCH = 128
"""Texts tokenised in one call: enough to hide the call, few enough to hold their tokens."""


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


class WordPieceCounter:
    """A :class:`~transforms.embedders.protocol.TokenCounter` over a tokenizer."""

    def __init__(self, name: str, tokenizer: Tokenizer) -> None:
        self.name = name
        self._tokenizer = tokenizer

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(encoding) for encoding in encode_all(self._tokenizer, texts)]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).offsets)

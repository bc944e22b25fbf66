"""Count every byte of UTF-8 as a token: for models whose tokenizer is not at hand, never too few.

Tokenizers of large models work on bytes and join them, so none has more tokens than a text has bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class ByteCounter:
    """A :class:`~transforms.embedders.protocol.TokenCounter` without a tokenizer."""

    name = "utf8-bytes"

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text.encode()) for text in texts]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Each byte has the span of its code point."""
        return [(at, at + 1) for at, point in enumerate(text) for _ in range(len(point.encode()))]

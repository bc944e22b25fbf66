"""What counts tokens for a model that runs elsewhere: its ``tokenizer.json``, else bytes, which are never too few."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from transforms.embedders.utf8 import ByteCounter
from transforms.model.errors import ConfigError
from transforms.model.ids import sha256_hex

if TYPE_CHECKING:
    from transforms.embedders.protocol import TokenCounter


def tokens_of(tokenizer: str | None, model: str) -> TokenCounter:
    """Counts with a tokenizer's file; without one, bytes."""
    file = tokenizer_file(tokenizer)
    if file is None:
        return ByteCounter()
    from transforms.embedders.wordpieces import TokenizerCounter, load_tokenizer

    return TokenizerCounter(f"{model}-{sha256_hex(file)[:8]}", load_tokenizer(file))


def tokenizer_file(path: str | None) -> bytes | None:
    """The bytes of a ``tokenizer.json``; None where none is configured.

    Raises:
        ConfigError: it cannot be read.
    """
    if path is None:
        return None
    try:
        return Path(path).expanduser().read_bytes()
    except OSError as error:
        raise ConfigError(f"The tokenizer {path} cannot be read: {error.strerror}") from error

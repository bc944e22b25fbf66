"""Which counter sizes are in: the embedder's own, an estimate, an encoding of OpenAI's, or any tokenizer's file."""

from __future__ import annotations

import hashlib
import math
import re
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from transforms.chunkers.files import read_file
from transforms.model.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bpe_openai import Encoding

    from transforms.embedders.protocol import TokenCounter

EMBEDDER = "embedder"
ENCODINGS = ("cl100k_base", "o200k_base")
"""Of which the data are in the package."""
_AT_ONCE = 500_000
"""Characters in one call of an encoder, which refuses a million."""
_ESTIMATE = re.compile(r"chars/(\d+(?:\.\d+)?)")


def size_counter(name: str, model: TokenCounter) -> TokenCounter:
    """What counts sizes, given the counter of the embedder's model.

    Raises:
        ConfigError: an encoding's package is not installed, or a file cannot be used.
    """
    return model if name == EMBEDDER else _counter(name)


def is_counter(name: str) -> bool:
    """Whether a name can be one: the file of a tokenizer is looked at only when it is used."""
    estimate = _ESTIMATE.fullmatch(name)
    if estimate:
        return float(estimate[1]) >= 1
    return name in (EMBEDDER, *ENCODINGS) or name.endswith(".json")


@lru_cache(maxsize=16)
def _counter(name: str) -> TokenCounter:
    estimate = _ESTIMATE.fullmatch(name)
    if estimate:
        return Estimate(float(estimate[1]))
    if name in ENCODINGS:
        return BytePairs(name)
    from transforms.embedders.wordpieces import TokenizerCounter, load_tokenizer

    data = read_file(name)
    try:
        tokenizer = load_tokenizer(data)
    except Exception as error:  # the library raises nothing narrower
        raise ConfigError(f"size.counter: {name} is no tokenizer.json: {error}") from error
    stem = name.rpartition("/")[2].removesuffix(".json")
    return TokenizerCounter(f"{stem}-{hashlib.sha256(data).hexdigest()[:8]}", tokenizer)


class Estimate:
    """So many characters a token, rounded up."""

    def __init__(self, characters: float) -> None:
        self.name = f"chars/{characters:g}"
        self._characters = characters

    def count(self, texts: Sequence[str]) -> list[int]:
        return [math.ceil(len(text) / self._characters) for text in texts]

    def starts(self, text: str) -> list[int]:
        return [math.ceil(number * self._characters) for number in range(self.count([text])[0])]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        starts = self.starts(text)
        return list(zip(starts, [*starts[1:], len(text)], strict=True)) if starts else []


class BytePairs:
    """An encoding of OpenAI's; special tokens in a text are text."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._encoding = _encoding(name)
        self._points = _Points(self._encoding)

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(self._tokens(text)) for text in texts]

    def starts(self, text: str) -> list[int]:
        """A token that begins inside a character counts as beginning behind it."""
        points = list(map(self._points.__getitem__, self._tokens(text)))
        return [0, *accumulate(points)][: len(points)]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        starts = self.starts(text)
        return list(zip(starts, [*starts[1:], len(text)], strict=True)) if starts else []

    def _tokens(self, text: str) -> list[int]:
        """In parts of lines: no token goes from a line break into the next line, and the library has a limit."""
        tokens: list[int] = []
        at = 0
        while at < len(text):
            end = at + _AT_ONCE
            if end < len(text):
                end = text.rfind("\n", at, end) + 1 or end
            tokens += self._encoding.encode_ordinary(text[at:end])
            at = end
        return tokens


class _Points(dict[int, int]):
    """How many characters begin in each token, looked at when it is first met."""

    def __init__(self, encoding: Encoding) -> None:
        super().__init__()
        self._encoding = encoding

    def __missing__(self, token: int) -> int:
        # Every byte but those that go on with a character begins one.
        piece = self._encoding.decode_single_token_bytes(token)
        self[token] = sum(byte & 0xC0 != 0x80 for byte in piece)
        return self[token]


def _encoding(name: str) -> Encoding:
    try:
        import bpe_openai
    except ImportError as error:
        raise ConfigError(
            f"size.counter: {name} needs another package: pip install 'parquetry[tiktoken]'."
        ) from error
    return bpe_openai.get_encoding(name)

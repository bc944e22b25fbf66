"""Where phrases end in scripts without spaces between words: Chinese, Japanese and Thai, by BudouX.

A phrase is a word with what clings to it, so that no line would be broken inside. The models are small and part of
the package; a text is looked at in pieces, near the place that asks.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from budoux import Parser

_THAI = re.compile("[\u0e01-\u0e5b]")
_KANA = re.compile("[\u3041-\u30ff]")
_UNSPACED = re.compile(
    "[\u0e01-\u0e5b\u3005\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


def is_unspaced(character: str) -> bool:
    """Whether a character is of a script that is written without spaces."""
    return _UNSPACED.match(character) is not None


def phrase_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Where the phrases of ``text[start:end]`` end, as far as they can be told from this piece of text."""
    piece = text[start:end]
    for phrase in _parser(_script(piece)).parse(piece):
        start += len(phrase)
        yield start


def _script(piece: str) -> str:
    if _THAI.search(piece):
        return "thai"
    return "japanese" if _KANA.search(piece) else "chinese"


@lru_cache(maxsize=3)
def _parser(script: str) -> Parser:
    import budoux

    return {
        "thai": budoux.load_default_thai_parser,
        "japanese": budoux.load_default_japanese_parser,
        "chinese": budoux.load_default_simplified_chinese_parser,
    }[script]()

"""What extraction makes of an object: canonical text with its structure.

All positions are code points of the canonical text, spans are half-open. The text is normalised once,
when it is extracted, and never touched again (see :func:`canonical_text`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, TypeAlias, Union

JsonValue: TypeAlias = Union[bool, int, float, str, list["JsonValue"], dict[str, "JsonValue"], None]

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_HIGH_THEN_LOW = re.compile("([\ud800-\udbff])([\udc00-\udfff])")


class BlockKind(StrEnum):
    """The kinds of block that the structure pass tells apart."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"


class Block(NamedTuple):
    """A block of the canonical text: its ink, without the line break that follows it.

    Blocks are ordered and disjoint, and all ink of a text lies in exactly one of them. A tuple with names, because
    there are millions and a frozen dataclass takes four times as long to make.
    """

    kind: BlockKind
    start: int
    end: int
    level: int | None = None
    """Of a heading: 1 to 6."""
    title: str | None = None
    """Of a heading: its words as a page shows them."""
    language: str | None = None
    """Of code: the first word of the fence's info string."""


@dataclass(frozen=True, slots=True)
class Page:
    """The span of one page; ``number`` counts from 1, ``label`` is what is printed on it."""

    start: int
    end: int
    number: int
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """One document's canonical text and structure, as an extractor delivers it."""

    text: str
    blocks: tuple[Block, ...]
    media_type: str
    extractor: str
    """Name and version of what made it, as ``markdown/1``: part of the recipe."""
    pages: tuple[Page, ...] = ()
    title: str | None = None
    """From the file's own metadata; the composer falls back on the first heading, then the name."""
    record: str | None = None
    """Which record of its object, where one object holds several: names as parts of an id, joined by ``#``."""
    language: str | None = None
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def canonical_text(text: str) -> str:
    """Normalise what an extractor read, once and for all.

    The byte-order mark goes, CR LF and CR become LF, NUL is dropped, halves of a surrogate pair are
    joined and lone ones become U+FFFD. Nothing else changes.
    """
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii() or not _LONE_SURROGATE.search(text):
        return text
    joined = _HIGH_THEN_LOW.sub(
        lambda pair: pair.group().encode("utf-16", "surrogatepass").decode("utf-16"), text
    )
    return _LONE_SURROGATE.sub("\ufffd", joined)

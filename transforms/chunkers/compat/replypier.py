"""The first system: a page becomes disjoint slices, embedded with the title and a tail."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from transforms.chunkers.compat.spans import Span, universal_lines
from transforms.model.document import JsonValue

SEPARATORS = ("\n\n", "\n", ". ", " ")
TITLE_LIMIT = 120
CHUNK_KEYS = frozenset({"page_id", "chunk", "chunk_count", "chunk_size"})

_CHUNK_ID = re.compile(r"::\d+$")
_OLD_CHUNK_ID = re.compile(r"_\d+$")


@dataclass(frozen=True, slots=True)
class Page:
    """A page as the system read it."""

    text: str
    id: str | None = None
    name: str | None = None
    metadata: Mapping[str, JsonValue] | None = None


@dataclass(frozen=True, slots=True)
class PageChunk:
    """A piece of a page with the id, the metadata and the embedded text that the system gave it."""

    start: int
    end: int
    id: str | None
    name: str | None
    text: str
    embed_text: str
    metadata: Mapping[str, JsonValue] | None = field(default_factory=dict)
    unchanged: bool = False
    """The page fitted and came back as it was, without a title in its embedded text."""
    context: Span | None = None
    """The tail of the piece before that is embedded too."""


def split_text(text: str, size: int) -> list[Span]:
    """Gapless pieces of at most ``size`` characters, each ended behind the best separator in reach.

    Separators are tried in the order of :data:`SEPARATORS`. One counts if its last occurrence in the
    window begins at or above the floor, three tenths of the size. Linear in the text.

    Raises:
        ValueError: ``size`` is under 1.
    """
    if size < 1:
        raise ValueError(f"size must be at least 1, got {size}")
    pieces = []
    start = 0
    while start < len(text):
        end = _piece_end(text, start, size)
        pieces.append((start, end))
        start = end
    return pieces


def _piece_end(text: str, start: int, size: int) -> int:
    window = start + size
    if len(text) <= window:
        return len(text)
    floor = start + 3 * size // 10
    for separator in SEPARATORS:
        found = text.rfind(separator, floor, window)
        if found >= 0:
            return found + len(separator)
    return window


def page_chunks(page: Page, size: int, overlap: int) -> list[PageChunk]:
    """Cut a page; one that fits comes back as it was, unless its id would be taken for a chunk's.

    Raises:
        ValueError: ``size`` is under 1.
    """
    pieces = split_text(page.text, size)
    if len(page.text) <= size and not needs_chunk_id(page.id):
        return [_whole(page)]
    title = used_title(page)
    chunks = []
    before: Span = (0, 0)
    for number, (start, end) in enumerate(pieces, start=1):
        context = (max(before[0], before[1] - max(overlap, 0)), before[1])
        text = page.text[start:end]
        chunks.append(
            PageChunk(
                start=start,
                end=end,
                id=f"{page.id}::{number}",
                name=page.name,
                text=text,
                embed_text=f"{title}\n{page.text[slice(*context)]}{text}",
                metadata=_chunk_metadata(page, number, len(pieces), end - start),
                context=context if context[0] < context[1] else None,
            )
        )
        before = (start, end)
    return chunks


def _whole(page: Page) -> PageChunk:
    text = page.text
    return PageChunk(0, len(text), page.id, page.name, text, text, page.metadata, unchanged=True)


def _chunk_metadata(page: Page, number: int, count: int, size: int) -> dict[str, JsonValue]:
    kept = {key: value for key, value in (page.metadata or {}).items() if key not in CHUNK_KEYS}
    title = recorded_title(page.metadata)
    if title is not None:
        kept["title"] = title
    return kept | {"page_id": page.id, "chunk": number, "chunk_count": count, "chunk_size": size}


def recorded_title(metadata: Mapping[str, JsonValue] | None) -> str | None:
    """The title in the metadata, trimmed and cut at 120 characters, if it is text with ink."""
    title = (metadata or {}).get("title")
    if not isinstance(title, str) or not title.strip():
        return None
    return title.strip()[:TITLE_LIMIT]


def used_title(page: Page) -> str:
    """What is embedded as the title: the recorded one, else the first line with ink, else the id."""
    recorded = recorded_title(page.metadata)
    if recorded is not None:
        return recorded
    for start, end in universal_lines(page.text):
        line = page.text[start:end].strip()
        if line:
            return line[:TITLE_LIMIT]
    return page.id or ""


def page_of(chunk_id: str) -> str:
    """The page that a stored id belongs to: less ``::<n>``, or less ``_<n>`` of an older scheme."""
    page, found = _CHUNK_ID.subn("", chunk_id)
    return page if found else _OLD_CHUNK_ID.sub("", chunk_id)


def needs_chunk_id(page_id: str | None) -> bool:
    """Whether a page's own id looks like a chunk's of the older scheme."""
    return page_id is not None and _OLD_CHUNK_ID.search(page_id) is not None

"""What is embedded for a chunk: title, breadcrumb, context and text, within the model's input.

Where all of it does not fit, context gives way first, then the breadcrumb, then the title; never the text.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING

from transforms.model.document import BlockKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from transforms.chunkers.settings import BreadcrumbSettings, ChunkSettings
    from transforms.model.chunk import Cut
    from transforms.model.document import Document
    from transforms.structure.outline import Outline, Section

BUDGET_CUT = "budget_cut"
"""Warning: title, breadcrumb or context were left out or shortened to fit the model's input."""


@dataclass(frozen=True, slots=True)
class Title:
    """A document's title, whole, and where it is from: metadata, heading or file."""

    text: str | None
    origin: str | None


@dataclass(frozen=True, slots=True)
class Parts:
    """What stands around a chunk's text in its embedded text. Empty parts are left out."""

    title: str
    breadcrumb: str
    context: str
    text: str


def document_title(document: Document, name: str, settings: ChunkSettings) -> Title:
    """The first title there is, in the order that the settings name."""
    for origin in settings.compose.title.from_:
        if origin == "metadata.title" and document.title and document.title.strip():
            return Title(document.title.strip(), "metadata")
        if origin == "first_heading":
            heading = next(
                (b.title for b in document.blocks if b.kind is BlockKind.HEADING and b.title), None
            )
            if heading:
                return Title(heading, "heading")
        if origin == "file_stem":
            return Title(posixpath.splitext(posixpath.basename(name))[0] or name, "file")
    return Title(None, None)


def short_title(title: str | None, max_chars: int) -> str:
    """The title as embedded: cut at a word where it is too long."""
    if not title or len(title) <= max_chars:
        return title or ""
    cut = title[: max_chars + 1].rpartition(" ")[0]
    return (cut or title[:max_chars]).rstrip()


def breadcrumb(section: Section, title: str, text: str, settings: BreadcrumbSettings) -> str:
    """The headings above a chunk, without what the title or the chunk's own first line says already."""
    if settings.from_ == "none":
        return ""
    path = list(section.path if settings.from_ == "path" else section.path[-1:])
    if settings.skip_equal_title and path and path[0] == title:
        path = path[1:]
    first_line = text.split("\n", 1)[0].strip().strip("#").strip()
    if path and path[-1] == first_line:
        path = path[:-1]
    return settings.separator.join(path)


def context_span(
    document: Document, previous: Cut | None, cut: Cut, outline: Outline, settings: ChunkSettings,
    size_of: Callable[[int, int], int],
) -> tuple[int, int] | None:  # fmt: skip
    """The tail of the chunk before, snapped to a word or sentence; None where there is none to carry."""
    if previous is None or settings.overlap_size == 0:
        return None
    if not settings.overlap.across_headings and outline.at(previous.end - 1) is not outline.at(cut.start):
        return None
    start = _tail_start(previous.start, previous.end, settings.overlap_size, size_of)
    start = _snapped(document.text, previous.start, start, previous.end, settings.overlap.snap)
    return (start, previous.end) if document.text[start : previous.end].strip() else None


def compose(
    parts: Parts, settings: ChunkSettings, count: Callable[[str], int], budget: int | None
) -> tuple[str, bool]:
    """The embedded text, and whether something had to give way for it to fit ``budget`` tokens."""
    full = join(parts, settings)
    if budget is None or count(full) <= budget:
        return full, False
    for smaller in _giving_way(parts):
        text = join(smaller, settings)
        if count(text) <= budget:
            return text, True
    return parts.text, True


def join(parts: Parts, settings: ChunkSettings) -> str:
    """The parts in the order of the settings; a title that the text begins with is not said twice."""
    chosen: Sequence[str] = [getattr(parts, name) for name in settings.compose.parts]
    first_line = parts.text.split("\n", 1)[0].strip().strip("#").strip()
    said = [part for part in chosen if part and not (part == parts.title and part == first_line)]
    return settings.compose.separator.join(said)


def _giving_way(parts: Parts) -> Iterator[Parts]:
    context = parts.context
    while context:
        words = context.split(" ")
        context = " ".join(words[len(words) // 2 + 1 :])
        yield Parts(parts.title, parts.breadcrumb, context, parts.text)
    yield Parts(parts.title, "", "", parts.text)


def _tail_start(start: int, end: int, size: int, size_of: Callable[[int, int], int]) -> int:
    """The first place from which the tail up to ``end`` holds at most ``size``."""
    low, high = start, end
    while low < high:
        middle = (low + high) // 2
        if size_of(middle, end) <= size:
            high = middle
        else:
            low = middle + 1
    return low


def _snapped(text: str, first: int, start: int, end: int, snap: str) -> int:
    from transforms.structure.sentences import sentence_spans

    if snap == "sentence":
        begins = [begin for begin, _ in sentence_spans(text, first, end) if begin >= start]
        return begins[0] if begins else end
    if snap == "word" and start > first and not text[start - 1].isspace():
        while start < end and not text[start].isspace():
            start += 1
    while start < end and text[start].isspace():
        start += 1
    return start

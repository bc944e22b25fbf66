"""Markdown and plain text."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from transforms.extractors.charset import decode
from transforms.extractors.front_matter import front_matter, title_of
from transforms.model.document import Document, Page, canonical_text
from transforms.structure.blocks import parse_blocks

if TYPE_CHECKING:
    from transforms.extractors.settings import ExtractSettings


def extract_markdown(data: bytes, settings: ExtractSettings) -> Document:
    """The text as it is, parsed as CommonMark with tables; the fields of its front matter as metadata."""
    text, warnings = decode(data, settings.encoding)
    text = canonical_text(text)
    fields = front_matter(text)
    return Document(
        text,
        parse_blocks(text, "markdown"),
        "text/markdown",
        "markdown/2",
        title=title_of(fields),
        metadata={name: value for name, value in fields.items() if name != "title"},
        warnings=warnings,
    )


def extract_plain(data: bytes, settings: ExtractSettings) -> Document:
    """The text as it is, in paragraphs; form feeds part its pages."""
    text, warnings = decode(data, settings.encoding)
    text = canonical_text(text)
    return Document(
        text, parse_blocks(text, "plain"), "text/plain", "plain/2", pages=_pages(text), warnings=warnings
    )


def _pages(text: str) -> tuple[Page, ...]:
    """A page goes up to its form feed; a text without one has no pages."""
    if "\f" not in text:
        return ()
    ends = [*accumulate(len(page) + 1 for page in text.split("\f"))]
    ends[-1] -= 1
    return tuple(
        Page(start, end, n) for n, (start, end) in enumerate(pairwise([0, *ends]), 1) if start < end
    )


def pipe_row(cells: list[str] | tuple[str, ...]) -> str:
    """One row of a Markdown table."""
    plain = (" ".join(str(cell).split()).replace("|", "\\|") for cell in cells)
    return "| " + " | ".join(plain) + " |"

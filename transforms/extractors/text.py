"""Markdown and plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.extractors.charset import decode
from transforms.extractors.front_matter import front_matter, title_of
from transforms.model.document import Document, canonical_text
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
    """The text as it is, in paragraphs."""
    text, warnings = decode(data, settings.encoding)
    text = canonical_text(text)
    return Document(text, parse_blocks(text, "plain"), "text/plain", "plain/1", warnings=warnings)


def pipe_row(cells: list[str] | tuple[str, ...]) -> str:
    """One row of a Markdown table."""
    plain = (" ".join(str(cell).split()).replace("|", "\\|") for cell in cells)
    return "| " + " | ".join(plain) + " |"

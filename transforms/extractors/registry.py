"""Which extractor reads which type, and what the recipe says of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from transforms.extractors.detect import CSV, HTML, MARKDOWN, PDF, PLAIN, TSV, media_type
from transforms.extractors.text import extract_delimited, extract_markdown, extract_plain
from transforms.model.errors import RejectedError
from transforms.model.ids import fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable

    from transforms.extractors.settings import ExtractSettings
    from transforms.model.document import Document

EXTRACTION_VERSION = 1
"""Raised whenever the same bytes and settings would give another text or structure."""


def extract(data: bytes, name: str, settings: ExtractSettings) -> list[Document]:
    """The documents of one object.

    Raises:
        RejectedError: it cannot be read; the reason is a slug, the detail says what to do.
    """
    document = _EXTRACTORS[media_type(data, name)](data, settings)
    if not document.text.strip():
        raise RejectedError("empty", "The file has no text.")
    return [document]


def recipe(settings: ExtractSettings) -> str:
    """A fingerprint of all that decides what comes out."""
    return fingerprint(
        str(EXTRACTION_VERSION), json.dumps(settings.model_dump(mode="json"), sort_keys=True)
    )


def _pdf(data: bytes, settings: ExtractSettings) -> Document:
    from transforms.extractors.pdf import extract_pdf

    return extract_pdf(data, settings)


def _html(data: bytes, settings: ExtractSettings) -> Document:
    from transforms.extractors.html import extract_html

    return extract_html(data, settings)


_EXTRACTORS: dict[str, Callable[[bytes, ExtractSettings], Document]] = {
    MARKDOWN: extract_markdown,
    PLAIN: extract_plain,
    HTML: _html,
    PDF: _pdf,
    CSV: lambda data, settings: extract_delimited(data, settings, ",", CSV),
    TSV: lambda data, settings: extract_delimited(data, settings, "\t", TSV),
}

"""PDF: text by page, by PDFium or, by configuration, by pdfplumber.

PDFium is not safe to call from two threads of a process, so one lock guards it.
"""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

from transforms.model.document import Document, Page, canonical_text
from transforms.model.errors import RejectedError
from transforms.structure.blocks import parse_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pypdfium2

    from transforms.extractors.settings import ExtractSettings

_PDFIUM = threading.Lock()
_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])(?:\ufffe|\u00ad)\n?|\u00ad")
_PAGE_BREAK = "\n\n"


def extract_pdf(data: bytes, settings: ExtractSettings) -> Document:
    """The text of all pages, a blank line between them, and where each page is.

    Raises:
        RejectedError: ``pdf_encrypted``, ``pdf_corrupt``, ``no_text`` or ``too_many_pages``.
    """
    with _PDFIUM:
        texts, labels, title = _read(data, settings)
    if not any(text.strip() for text in texts):
        raise RejectedError(
            "no_text", "The PDF has pages and no text: scanned, perhaps. Run OCR on it first."
        )
    pages, at = [], 0
    for number, (text, label) in enumerate(zip(texts, labels, strict=True), 1):
        pages.append(Page(at, at + len(text), number, label))
        at += len(text) + len(_PAGE_BREAK)
    whole = _PAGE_BREAK.join(texts)
    return Document(
        whole, parse_blocks(whole, "plain"), "application/pdf", "pdf/1", pages=tuple(pages), title=title
    )


def _read(data: bytes, settings: ExtractSettings) -> tuple[list[str], list[str | None], str | None]:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise RejectedError(
                "pdf_encrypted", "The PDF asks for a password. Store a copy without one."
            ) from error
        raise RejectedError(
            "pdf_corrupt", f"The PDF cannot be opened: {error}. Replace the file."
        ) from error
    try:
        if len(document) > settings.max_pages:
            detail = f"{len(document):,} pages are over extract.max_pages = {settings.max_pages:,}."
            raise RejectedError("too_many_pages", detail)
        texts = list(_page_texts(document))
        labels = [document.get_page_label(index) or None for index in range(len(document))]
        title = canonical_text(document.get_metadata_value("Title") or "").strip() or None
    except pypdfium2.PdfiumError as error:
        raise RejectedError(
            "pdf_corrupt", f"A page of the PDF cannot be read: {error}. Replace the file."
        ) from error
    finally:
        document.close()
    return texts, labels, title


def _page_texts(document: pypdfium2.PdfDocument) -> Iterator[str]:
    """One page at a time, each freed before the next."""
    for index in range(len(document)):
        page = document[index]
        text_page = page.get_textpage()
        text = canonical_text(text_page.get_text_range())
        text_page.close()
        page.close()
        # PDFium marks a hyphen at a line's end as U+FFFE: the word goes on in the next line.
        yield _BROKEN_WORD.sub("", text).strip("\n")

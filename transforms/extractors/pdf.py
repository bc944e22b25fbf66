"""PDF: text by page, with tables, forms and headings, by PDFium or, by configuration, by pdfplumber.

PDFium is not safe to call from two threads of a process, so one lock guards it.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from transforms.extractors.pdf_headings import Bookmark, large_lines, pdf_blocks
from transforms.extractors.pdf_lines import PageLines, is_suspect, page_texts, without_furniture
from transforms.model.document import Document, JsonValue, Page, canonical_text
from transforms.model.errors import RejectedError

if TYPE_CHECKING:
    import pypdfium2

    from transforms.extractors.settings import ExtractSettings

FURNITURE = "page_furniture"
"""In a document's metadata: the wordings of heads and feet that were left out."""
_PDFIUM = threading.Lock()
_PAGE_BREAK = "\n\n"
_METADATA = {"Author": "author", "Subject": "subject", "Keywords": "keywords", "CreationDate": "created"}
_NOTHING = ("untitled", "(anonymous)", "anonymous", "(unspecified)", "unspecified", "unknown")
_DATE = re.compile(r"D:(\d{4})(\d\d)(\d\d)(\d\d)?(\d\d)?(\d\d)?")
_SHOWN = 20


@dataclass(slots=True)
class _Read:
    """What was read of a file before anything is made of it."""

    pages: list[PageLines] = field(default_factory=list)
    labels: list[str | None] = field(default_factory=list)
    bookmarks: list[Bookmark] = field(default_factory=list)
    title: str | None = None
    language: str | None = None
    metadata: dict[str, JsonValue] = field(default_factory=dict)


def extract_pdf(data: bytes, settings: ExtractSettings) -> Document:
    """The text of all pages, a blank line between them, and where each page is.

    Raises:
        RejectedError: ``pdf_encrypted``, ``pdf_corrupt``, ``no_text``, ``suspect_text`` or ``too_many_pages``.
    """
    with _PDFIUM:
        read = _read(data, settings)
    if settings.pdf_engine == "pdfplumber":
        from transforms.extractors.pdf_plumber import plumbed_pages

        read.pages = list(plumbed_pages(data, settings))
    if settings.ocr.engine != "off":
        with _PDFIUM:
            read.pages = list(_with_ocr(data, read.pages, settings))
    if not any(page.lines for page in read.pages):
        raise RejectedError(
            "no_text",
            "The PDF has pages and no text: scanned, perhaps. OCR reads it: `extract.ocr.engine`.",
        )
    pages, warnings = _without_garbage(read.pages)
    metadata = read.metadata
    if settings.page_furniture == "drop":
        pages, furniture = without_furniture(pages)
        if furniture:
            metadata = {**metadata, FURNITURE: list(furniture[:_SHOWN])}
    return _document(read, pages, metadata, warnings)


def _document(
    read: _Read, pages: Sequence[PageLines], metadata: Mapping[str, JsonValue], warnings: tuple[str, ...]
) -> Document:
    texts = page_texts(pages)
    whole = _PAGE_BREAK.join(texts)
    spans, at = [], 0
    for number, (text, label) in enumerate(zip(texts, read.labels, strict=True), 1):
        spans.append(Page(at, at + len(text), number, label))
        at += len(text) + len(_PAGE_BREAK)
    if not whole.strip():
        raise RejectedError("no_text", "The PDF has nothing but page heads and numbers.")
    return Document(
        whole,
        pdf_blocks(whole, spans, read.bookmarks or large_lines(pages)),
        "application/pdf",
        "pdf/2",
        pages=tuple(spans),
        title=read.title,
        language=read.language,
        metadata=metadata,
        warnings=warnings,
    )


def _without_garbage(pages: Sequence[PageLines]) -> tuple[list[PageLines], tuple[str, ...]]:
    """Pages whose text is garbage become empty, and a warning; a file of mostly such pages is refused."""
    suspect = [number for number, page in enumerate(pages, 1) if is_suspect(page)]
    inked = sum(bool(page.lines) for page in pages)
    if len(suspect) * 2 > inked:
        raise RejectedError(
            "suspect_text",
            f"The text of {len(suspect)} of {inked} pages is garbage: a font does not say what its "
            "characters are. Run OCR on the pages.",
        )
    warnings = [f"{name}:page {n}" for n, page in enumerate(pages, 1) for name in page.warnings]
    warnings += [f"suspect_text:page {number}" for number in suspect]
    kept = [
        replace(page, lines=()) if number in set(suspect) else page for number, page in enumerate(pages, 1)
    ]
    shown = tuple(warnings[:_SHOWN])
    return kept, (*shown, f"{len(warnings) - _SHOWN} more") if len(warnings) > _SHOWN else shown


def _read(data: bytes, settings: ExtractSettings) -> _Read:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise RejectedError(
                "pdf_encrypted", "The PDF asks for a password. Store a copy without one."
            ) from error
        raise _corrupt(f"The PDF cannot be opened: {error}") from error
    try:
        if len(document) > settings.max_pages:
            detail = f"{len(document):,} pages are over extract.max_pages = {settings.max_pages:,}."
            raise RejectedError("too_many_pages", detail)
        return _read_document(document, data, settings)
    except pypdfium2.PdfiumError as error:
        raise _corrupt(f"A page of the PDF cannot be read: {error}") from error
    finally:
        document.close()


def _read_document(document: pypdfium2.PdfDocument, data: bytes, settings: ExtractSettings) -> _Read:
    stated = {name: _stated(document, name) for name in ("Title", *_METADATA)}
    read = _Read(
        labels=[document.get_page_label(index) or None for index in range(len(document))],
        bookmarks=list(_bookmarks(document)),
        title=stated["Title"] or None,
        metadata={ours: stated[name] for name, ours in _METADATA.items() if stated[name]},
    )
    if settings.pdf_engine == "pdfium":
        read.pages = list(_pages(document, data, settings))
    return read


def _stated(document: pypdfium2.PdfDocument, name: str) -> str:
    """What the file says of itself; dates in ISO form, words that programs put for nothing as nothing."""
    value = " ".join(canonical_text(document.get_metadata_value(name) or "").split())
    date = _DATE.match(value)
    if date:
        year, month, day, *time = (part or "" for part in date.groups())
        return f"{year}-{month}-{day}" + ("T" + ":".join(time) if all(time) else "")
    return "" if value.lower() in _NOTHING else value


def _bookmarks(document: pypdfium2.PdfDocument) -> Iterator[Bookmark]:
    for item in document.get_toc():
        destination = item.get_dest()
        page = None if destination is None else destination.get_index()
        title = " ".join(canonical_text(item.get_title()).split())
        if title and page is not None:
            yield Bookmark(title, item.level + 1, page + 1)


def _pages(document: pypdfium2.PdfDocument, data: bytes, settings: ExtractSettings) -> Iterator[PageLines]:
    """One page at a time, each freed before the next."""
    from transforms.extractors.pdf_layers import layers_off
    from transforms.extractors.pdf_plumber import vertical_page
    from transforms.extractors.pdfium_page import read_page

    # Forms that are XFA besides are read by their plain fields; the library's advice on that is for others.
    logging.getLogger("pypdfium2").setLevel(logging.ERROR)
    if document.get_formtype():
        document.init_forms()
    off = layers_off(data)
    for index in range(len(document)):
        page = document[index]
        try:
            lines = read_page(page, settings, document.formenv, off)
        finally:
            page.close()
        yield vertical_page(data, index) if lines is None else lines


def _with_ocr(data: bytes, pages: Sequence[PageLines], settings: ExtractSettings) -> Iterator[PageLines]:
    """The pages, those without text or with garbage for text read from their pictures."""
    import pypdfium2

    from transforms.extractors.ocr import drawn_page_lines

    unread = [not page.lines or is_suspect(page) for page in pages]
    if not any(unread):
        yield from pages
        return
    document = pypdfium2.PdfDocument(data)
    try:
        for index, page in enumerate(pages):
            yield drawn_page_lines(document[index], settings) if unread[index] else page
    finally:
        document.close()


def _corrupt(what: str) -> RejectedError:
    return RejectedError("pdf_corrupt", f"{what.rstrip('.')}. Replace the file.")

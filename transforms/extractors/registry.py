"""Which extractor reads which type, and what the recipe says of it."""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING

from transforms.extractors.code import CODE
from transforms.extractors.containers import DOCX, EML, EPUB, GZIP, PPTX, RST, XLSX, ZIP
from transforms.extractors.delimited import CSV, TSV
from transforms.extractors.detect import HTML, MARKDOWN, PDF, PLAIN, media_type
from transforms.extractors.json_files import JSON, JSONL
from transforms.extractors.parquet_file import PARQUET
from transforms.extractors.text import extract_markdown, extract_plain
from transforms.model.errors import RejectedError
from transforms.model.ids import fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable

    from transforms.extractors.settings import ExtractSettings
    from transforms.model.document import Document

EXTRACTION_VERSION = 5
"""Raised whenever the same bytes and settings would give another text or structure."""


def extract(data: bytes, name: str, settings: ExtractSettings) -> list[Document]:
    """The documents of one object.

    Raises:
        RejectedError: it cannot be read; the reason is a slug, the detail says what to do.
    """
    kind = media_type(data, name)
    try:
        documents = _read(kind, data, name, settings)
    except (RejectedError, MemoryError):
        raise
    except RecursionError as error:
        raise RejectedError(
            "corrupt", "The file nests its content deeper than any program does."
        ) from error
    except Exception as error:
        # Whatever a file does to its reader, the run goes on; the kind of the fault is in the row.
        raise RejectedError("reader_failed", f"Reading it as {kind} failed: {_said(error)}.") from error
    documents = [document for document in documents if document.text.strip()]
    if not documents:
        raise RejectedError("empty", "The file has no text.")
    return documents


def _said(error: Exception) -> str:
    """The error's kind and its first line."""
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0][:200]}".rstrip(": ")


def _read(kind: str, data: bytes, name: str, settings: ExtractSettings) -> list[Document]:
    if kind in _LATE:
        module, function = _LATE[kind]
        read = getattr(import_module(f"transforms.extractors.{module}"), function)
        documents: list[Document] = read(data, name, settings)
        return documents
    return [_EXTRACTORS[kind](data, settings)]


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


_LATE = {
    DOCX: ("office", "extract_docx"),
    PPTX: ("office", "extract_pptx"),
    XLSX: ("office", "extract_xlsx"),
    EPUB: ("epub", "extract_epub"),
    EML: ("eml", "extract_eml"),
    RST: ("rst", "extract_rst"),
    ZIP: ("archive", "extract_zip"),
    GZIP: ("archive", "extract_gzip"),
    CSV: ("delimited", "extract_csv"),
    TSV: ("delimited", "extract_tsv"),
    JSON: ("json_files", "extract_json"),
    JSONL: ("json_files", "extract_jsonl"),
    PARQUET: ("parquet_file", "extract_parquet"),
    CODE: ("code", "extract_code"),
}
"""Module and function of those that bring libraries along; they may make several documents."""

_EXTRACTORS: dict[str, Callable[[bytes, ExtractSettings], Document]] = {
    MARKDOWN: extract_markdown,
    PLAIN: extract_plain,
    HTML: _html,
    PDF: _pdf,
}

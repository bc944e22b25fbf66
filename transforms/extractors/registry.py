"""Which extractor reads which type, and what the recipe says of it."""

from __future__ import annotations

import json
import traceback
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from transforms.extractors.code import CODE
from transforms.extractors.containers import DOCX, EML, EPUB, GZIP, PPTX, RST, XLSX, ZIP
from transforms.extractors.delimited import CSV, TSV
from transforms.extractors.detect import HTML, MARKDOWN, PDF, PICTURE, PLAIN, media_type
from transforms.extractors.extraction import Extraction
from transforms.extractors.json_files import JSON, JSONL
from transforms.extractors.language import with_language
from transforms.extractors.parquet_file import PARQUET
from transforms.extractors.reasons import BUG
from transforms.extractors.stated import with_clean_facts
from transforms.extractors.text import extract_markdown, extract_plain
from transforms.model.errors import RejectedError
from transforms.model.ids import fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable

    from transforms.extractors.settings import ExtractSettings
    from transforms.model.document import Document
    from transforms.model.objects import RecordRange

EXTRACTION_VERSION = 14
"""Raised whenever the same bytes and settings would give another text or structure."""
_HERE = Path(__file__).resolve().parents[1]


def extract(
    data: bytes,
    name: str,
    settings: ExtractSettings,
    kind: str | None = None,
    part: RecordRange | None = None,
) -> Extraction:
    """The documents of one object, at least one, and the parts of it that cannot be read.

    Args:
        data: its bytes.
        name: its name, which tells its type where the content does not.
        settings: of the source.
        kind: its media type, where the caller has asked for it already.
        part: which of its records they are the bytes of, if not of all; there may be no document among them.

    Raises:
        RejectedError: none of it can be read; the reason is a slug, the detail says what to do.
    """
    kind = kind or media_type(data, name)
    try:
        found = _read(kind, data, name, settings, part)
    except (RejectedError, MemoryError):
        raise
    except RecursionError as error:
        raise RejectedError(
            "corrupt", "The file nests its content deeper than any program does."
        ) from error
    except Exception as error:
        # What libraries raise on bad files is translated where they are called. This is none of it: the
        # run goes on, and the row says where the program is to be mended.
        raise RejectedError(BUG, _fault(error, kind)) from error
    found = with_clean_facts(found.checked(whole=part is None))
    if settings.detect_language and kind not in _HOLDERS:
        found = Extraction(tuple(map(with_language, found.documents)), found.refused)
    return found


def _read(
    kind: str, data: bytes, name: str, settings: ExtractSettings, part: RecordRange | None
) -> Extraction:
    if kind in _LATE:
        module, function = _LATE[kind]
        read = getattr(import_module(f"transforms.extractors.{module}"), function)
        of_range = () if part is None else (part,)
        found: Document | Extraction = read(data, name, settings, *of_range)
    else:
        found = _EXTRACTORS[kind](data, settings)
    return found if isinstance(found, Extraction) else Extraction((found,))


def _fault(error: Exception, kind: str) -> str:
    """What was raised, and the last place of this program on the way to it."""
    places = [
        f"{Path(frame.filename).name} line {frame.lineno}, in {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(_HERE)
    ]
    said = f"{type(error).__name__}: {str(error).partition(chr(10))[0][:200]}".rstrip(": ")
    return f"Reading it as {kind} met a fault of this program: {said} ({places[-1]}). Please report it."


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
    PICTURE: ("ocr", "extract_picture"),
}
"""Module and function of those that bring libraries along; they may make several documents."""

_HOLDERS = (ZIP, GZIP, EML)
"""What lies in these has come through here by itself."""

_EXTRACTORS: dict[str, Callable[[bytes, ExtractSettings], Document]] = {
    MARKDOWN: extract_markdown,
    PLAIN: extract_plain,
    HTML: _html,
    PDF: _pdf,
}

FORMATS = frozenset(_LATE) | frozenset(_EXTRACTORS)
"""All media types that are read."""

"""Reads pages by pdfplumber: the engine to compare with, and the one for what PDFium loses."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from transforms.extractors.letters import readable
from transforms.extractors.pdf_lines import Line, PageLines
from transforms.extractors.pdf_tables import is_table, pipe_table, table_rows
from transforms.model.document import canonical_text
from transforms.model.errors import RejectedError

if TYPE_CHECKING:
    from pdfplumber.page import Page

    from transforms.extractors.settings import ExtractSettings


def plumbed_pages(data: bytes, settings: ExtractSettings) -> Iterator[PageLines]:
    """Every page's lines, each page freed before the next.

    Raises:
        RejectedError: ``pdf_corrupt``.
    """
    import pdfplumber

    with _faults():
        document = pdfplumber.open(io.BytesIO(data))
    with document:
        with _faults():
            pages = document.pages
        for page in pages:
            yield PageLines(tuple(_lines(page, settings)), float(page.height))
            page.close()


def vertical_page(data: bytes, index: int) -> PageLines:
    """The lines of a page that is written from top to bottom, columns from right to left.

    Raises:
        RejectedError: ``pdf_corrupt``.
    """
    from pdfminer.high_level import extract_pages
    from pdfminer.layout import LAParams, LTTextContainer

    with _faults():
        layout = LAParams(detect_vertical=True)
        pages = list(extract_pages(io.BytesIO(data), page_numbers=[index], laparams=layout))
    lines = []
    height = 0.0
    for page in pages:
        height = page.height
        for box in page:
            if isinstance(box, LTTextContainer):
                text = readable(canonical_text(box.get_text())).strip("\n")
                if text.strip():
                    lines.append(Line(text, box.x0, height - box.y1, box.x1, height - box.y0))
    return PageLines(tuple(lines), height)


@contextmanager
def _faults() -> Iterator[None]:
    """What pdfminer stumbles over, it raises, of any kind, on files that break the rules."""
    try:
        yield
    except (MemoryError, RecursionError):
        raise
    except Exception as error:
        raise RejectedError(
            "pdf_corrupt", f"A page of the PDF cannot be read: {type(error).__name__}. Replace the file."
        ) from error


def _lines(page: Page, settings: ExtractSettings) -> Iterator[Line]:
    with _faults():
        tables = [(table, table.extract()) for table in page.find_tables()] if settings.pdf_tables else []
        # Letters that are printed twice to look bold come once.
        lines = page.dedupe_chars().extract_text_lines(return_chars=False)
    found: list[Line] = []
    for table, texts in tables:
        rows = table_rows(table, texts)
        if is_table(rows):
            found.append(Line(pipe_table(rows), *table.bbox, is_table=True))
    for line in lines:
        middle = (line["top"] + line["bottom"]) / 2
        inside = any(
            t.top <= middle <= t.bottom and t.x0 <= line["x0"] <= t.x1 for t in found if t.is_table
        )
        if not inside:
            text = readable(canonical_text(line["text"]))
            x0, top, x1, bottom = (line[name] for name in ("x0", "top", "x1", "bottom"))
            found.append(Line(text, x0, top, x1, bottom, size=bottom - top))
    yield from sorted(found, key=lambda line: line.top)

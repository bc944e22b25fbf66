"""Reads pages by pdfplumber: the engine to compare with, and the one for what PDFium loses."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from transforms.extractors.pdf_lines import Line, PageLines, readable
from transforms.extractors.pdf_tables import is_table, pipe_table, table_rows
from transforms.model.document import canonical_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pdfplumber.page import Page

    from transforms.extractors.settings import ExtractSettings


def plumbed_pages(data: bytes, settings: ExtractSettings) -> Iterator[PageLines]:
    """Every page's lines, each page freed before the next.

    Raises:
        Exception: whatever pdfminer finds wrong with the file; its kinds are not documented.
    """
    import pdfplumber

    with pdfplumber.open(io.BytesIO(data)) as document:
        for page in document.pages:
            yield PageLines(tuple(_lines(page, settings)), float(page.height))
            page.close()


def vertical_page(data: bytes, index: int) -> PageLines:
    """The lines of a page that is written from top to bottom, columns from right to left."""
    from pdfminer.high_level import extract_pages
    from pdfminer.layout import LAParams, LTTextContainer

    lines = []
    height = 0.0
    for page in extract_pages(
        io.BytesIO(data), page_numbers=[index], laparams=LAParams(detect_vertical=True)
    ):
        height = page.height
        for box in page:
            if isinstance(box, LTTextContainer):
                text = readable(canonical_text(box.get_text())).strip("\n")
                if text.strip():
                    lines.append(Line(text, box.x0, height - box.y1, box.x1, height - box.y0))
    return PageLines(tuple(lines), height)


def _lines(page: Page, settings: ExtractSettings) -> Iterator[Line]:
    tables = (
        [(table.bbox, table_rows(table, table.extract())) for table in page.find_tables()]
        if settings.pdf_tables
        else []
    )
    found: list[Line] = []
    for (x0, top, x1, bottom), rows in tables:
        if is_table(rows):
            found.append(Line(pipe_table(rows), x0, top, x1, bottom, is_table=True))
    for line in page.extract_text_lines(return_chars=False):
        middle = (line["top"] + line["bottom"]) / 2
        inside = any(
            t.top <= middle <= t.bottom and t.x0 <= line["x0"] <= t.x1 for t in found if t.is_table
        )
        if not inside:
            text = readable(canonical_text(line["text"]))
            found.append(Line(text, line["x0"], line["top"], line["x1"], line["bottom"]))
    yield from sorted(found, key=lambda line: line.top)

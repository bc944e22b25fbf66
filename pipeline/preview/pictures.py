"""Pictures of a PDF's pages, small enough for dozens of them in one HTML file."""

from __future__ import annotations

import base64
import io

_WIDTH = 480
"""Pixels: headings and the shape of the page can be read."""
_QUALITY = 55
PAGES = 100
"""Pages with a picture; a page costs about 25 kB."""


def page_pictures(data: bytes) -> dict[int, str]:
    """By page number, from 1, a ``data:`` URI of the page as JPEG, of the first pages."""
    import pypdfium2 as pdfium

    with pdfium.PdfDocument(data) as document:
        numbers = range(1, min(len(document), PAGES) + 1)
        return {number: _picture(document[number - 1]) for number in numbers}


def _picture(page: object) -> str:
    width = page.get_width()  # type: ignore[attr-defined]
    bitmap = page.render(scale=_WIDTH / max(width, 1), grayscale=True)  # type: ignore[attr-defined]
    out = io.BytesIO()
    bitmap.to_pil().save(out, "JPEG", quality=_QUALITY)
    return "data:image/jpeg;base64," + base64.b64encode(out.getvalue()).decode()

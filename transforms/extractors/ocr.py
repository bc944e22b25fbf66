"""Reads the text of pictures by the program tesseract: of files that are pictures, and of pages without text.

Off unless the configuration asks for it. Each line keeps its place, so that what is made of the lines of a PDF
is made of these as well.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from typing import TYPE_CHECKING, Any

from transforms.extractors.detect import PICTURE, known_as
from transforms.extractors.pdf_lines import Line, PageLines, page_texts
from transforms.model.document import Document, Page, canonical_text
from transforms.model.errors import RejectedError
from transforms.structure.blocks import parse_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pypdfium2
    from PIL.Image import Image

    from transforms.extractors.settings import ExtractSettings

OCR = "ocr"
"""Warning of a page: its text was read from a picture."""
_MAX_PIXELS = 60_000_000
"""Of a picture; ten times a page of letter paper at 300 dots an inch."""
_POINTS = 72
_PICTURE_DPI = 200
"""Dots an inch of pictures, which seldom say it."""
_WORD = "5"
"""The level of words in tesseract's answers."""


def extract_picture(data: bytes, name: str, settings: ExtractSettings) -> Document:  # noqa: ARG001
    """The text of a picture, of each frame a page.

    Raises:
        RejectedError: ``unsupported_type`` unless OCR is asked for; ``corrupt``, ``too_large``,
            ``too_many_pages``, ``no_text``, or ``ocr_failed``.
    """
    if settings.ocr.engine == "off":
        raise RejectedError(
            "unsupported_type",
            f"It is {known_as(data)}. Set `extract.ocr.engine: tesseract` to read text on it, or leave it "
            "out with `exclude`.",
        )
    texts = page_texts([picture_lines(frame, settings, _PICTURE_DPI) for frame in _frames(data, settings)])
    whole = "\n\n".join(texts)
    if not whole.strip():
        raise RejectedError("no_text", "There is no text on the picture, or none that OCR can read.")
    pages, at = [], 0
    for number, text in enumerate(texts, 1):
        pages.append(Page(at, at + len(text), number))
        at += len(text) + 2
    blocks = parse_blocks(whole, "plain")
    return Document(whole, blocks, PICTURE, "picture/1", pages=tuple(pages), warnings=(OCR,))


def drawn_page_lines(page: pypdfium2.PdfPage, settings: ExtractSettings) -> PageLines:
    """The lines of a page of a PDF, by the picture of it; raises ``ocr_failed``."""
    width, height = page.get_size()
    dpi = settings.ocr.dpi
    # A page may say that it is as large as a field.
    scale = min(dpi / _POINTS, (_MAX_PIXELS / max(width * height, 1)) ** 0.5)
    picture = page.render(scale=scale, grayscale=True).to_pil()
    return picture_lines(picture, settings, scale * _POINTS)


def picture_lines(picture: Image, settings: ExtractSettings, dpi: float) -> PageLines:
    """The lines of a picture, in points, in tesseract's reading order.

    Raises:
        RejectedError: ``ocr_failed``.
    """
    import pytesseract

    with _tesseract_faults():
        found = pytesseract.image_to_data(
            picture,
            lang=settings.ocr.languages,
            output_type=pytesseract.Output.STRING,
            timeout=settings.max_seconds,
        )
    head, *rows = (row.split("\t") for row in found.strip("\n").split("\n"))
    words = [dict(zip(head, row, strict=False)) for row in rows]
    words = [word for word in words if word.get("level") == _WORD and word.get("text", "").strip()]
    points = _POINTS / dpi
    lines = tuple(
        _line(list(of_line), points)
        for _, of_line in groupby(
            words, lambda word: (word["block_num"], word["par_num"], word["line_num"])
        )
    )
    return PageLines(lines, picture.height * points, warnings=(OCR,) if lines else ())


def _line(words: Sequence[dict[str, Any]], points: float) -> Line:
    text = canonical_text(" ".join(word["text"].strip() for word in words))
    boxes = [[int(word[name]) * points for name in ("left", "top", "width", "height")] for word in words]
    return Line(
        text,
        min(left for left, _, _, _ in boxes),
        min(top for _, top, _, _ in boxes),
        max(left + width for left, _, width, _ in boxes),
        max(top + height for _, top, _, height in boxes),
    )


def _frames(data: bytes, settings: ExtractSettings) -> Iterator[Image]:
    from PIL import Image, ImageSequence

    with _picture_faults(), Image.open(io.BytesIO(data)) as picture:
        if picture.width * picture.height > _MAX_PIXELS:
            raise RejectedError(
                "too_large", f"The picture has more than {_MAX_PIXELS:,} pixels; make it smaller."
            )
        for number, frame in enumerate(ImageSequence.Iterator(picture)):
            if number >= settings.max_pages:
                raise RejectedError(
                    "too_many_pages", f"The picture has more frames than {settings.max_pages:,}."
                )
            yield frame.convert("L")


@contextmanager
def _picture_faults() -> Iterator[None]:
    """Pillow raises what its decoders stumble over, of any kind, on pictures that are damaged."""
    from PIL import Image

    try:
        yield
    except (RejectedError, MemoryError):
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise RejectedError("too_large", f"The picture is too large: {error}") from error
    except Exception as error:
        said = str(error).strip(".") or type(error).__name__
        raise RejectedError("corrupt", f"The picture cannot be read: {said}.") from error


@contextmanager
def _tesseract_faults() -> Iterator[None]:
    from pytesseract import TesseractError, TesseractNotFoundError

    try:
        yield
    except TesseractNotFoundError as error:
        raise RejectedError(
            "ocr_failed", "The program tesseract is not on the worker's PATH; install it there."
        ) from error
    except (TesseractError, RuntimeError, OSError) as error:
        said = " ".join(str(error).split())[:300]
        raise RejectedError("ocr_failed", f"tesseract failed: {said}") from error

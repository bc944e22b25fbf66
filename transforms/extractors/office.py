"""Makes documents of office files: Word, PowerPoint and Excel in their zipped XML forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.extractors.containers import DOCX, PPTX, XLSX
from transforms.extractors.inflate import Caps
from transforms.extractors.ooxml import Package, metadata_of
from transforms.model.document import Document
from transforms.model.errors import RejectedError
from transforms.structure.blocks import parse_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from transforms.extractors.markdown_writer import Written
    from transforms.extractors.settings import ExtractSettings

_NO_TITLE = frozenset({"PowerPoint Presentation", "Word Document"})
"""What programs write for a title when there is none."""


def extract_docx(data: bytes, name: str, settings: ExtractSettings) -> Document:  # noqa: ARG001
    """The one document of a Word file; raises :class:`RejectedError` as the package does."""
    from transforms.extractors.docx import read_docx

    package = Package(data, caps(settings), "DOCX")
    return _document(package, _written(read_docx, package, settings), DOCX, "docx/1")


def extract_pptx(data: bytes, name: str, settings: ExtractSettings) -> Document:  # noqa: ARG001
    """The one document of a PowerPoint file, a page a slide."""
    from transforms.extractors.pptx import read_pptx

    package = Package(data, caps(settings), "PPTX")
    return _document(package, _written(read_pptx, package, settings), PPTX, "pptx/1")


def extract_xlsx(data: bytes, name: str, settings: ExtractSettings) -> Document:  # noqa: ARG001
    """The one document of an Excel file, a heading a sheet."""
    from transforms.extractors.xlsx import read_xlsx

    package = Package(data, caps(settings), "XLSX")
    return _document(package, read_xlsx(data, package.archive), XLSX, "xlsx/1")


def caps(settings: ExtractSettings) -> Caps:
    """How far an object may expand under these settings."""
    return Caps(settings.max_expanded_bytes, settings.max_expansion_ratio, settings.max_members)


def _document(package: Package, written: Written, media_type: str, extractor: str) -> Document:
    out, warnings = written
    text = out.text
    if not text:
        raise RejectedError("no_text", f"The {package.what} has no text; it may hold pictures only.")
    properties = package.properties()
    title = properties.get("title")
    return Document(
        text,
        parse_blocks(text, "markdown"),
        media_type,
        extractor,
        pages=out.pages,
        title=None if title in _NO_TITLE else title,
        language=properties.get("language"),
        metadata=metadata_of(properties),
        warnings=warnings,
    )


def _written(
    read: Callable[[Package, ExtractSettings], Written], package: Package, settings: ExtractSettings
) -> Written:
    try:
        return read(package, settings)
    except RecursionError as error:
        detail = f"The {package.what} nests its content deeper than any program writes it."
        raise RejectedError("corrupt", detail) from error

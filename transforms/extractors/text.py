"""Markdown, plain text and delimited tables."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from transforms.extractors.charset import decode
from transforms.model.document import Document, canonical_text
from transforms.model.errors import RejectedError
from transforms.structure.blocks import parse_blocks

if TYPE_CHECKING:
    from transforms.extractors.settings import ExtractSettings


def extract_markdown(data: bytes, settings: ExtractSettings) -> Document:
    """The text as it is, parsed as CommonMark with tables."""
    text, warnings = decode(data, settings.encoding)
    text = canonical_text(text)
    return Document(text, parse_blocks(text, "markdown"), "text/markdown", "markdown/1", warnings=warnings)


def extract_plain(data: bytes, settings: ExtractSettings) -> Document:
    """The text as it is, in paragraphs."""
    text, warnings = decode(data, settings.encoding)
    text = canonical_text(text)
    return Document(text, parse_blocks(text, "plain"), "text/plain", "plain/1", warnings=warnings)


def extract_delimited(data: bytes, settings: ExtractSettings, separator: str, media_type: str) -> Document:
    """A table of pipe rows. Cells are text as written; a line break inside a cell becomes a space.

    Raises:
        RejectedError: ``corrupt``, where rows have more cells than the header.
    """
    import pandas as pd

    text, warnings = decode(data, settings.encoding)
    try:
        frame = pd.read_csv(
            io.StringIO(canonical_text(text)), sep=separator, dtype=str, keep_default_na=False, header=None
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise RejectedError("corrupt", f"The table cannot be read: {error}") from error
    rows = [pipe_row(row) for row in frame.itertuples(index=False, name=None)]
    rows.insert(1, pipe_row(["---"] * frame.shape[1]))
    table = "\n".join(rows) + "\n"
    return Document(table, parse_blocks(table, "markdown"), media_type, "delimited/1", warnings=warnings)


def pipe_row(cells: list[str] | tuple[str, ...]) -> str:
    """One row of a Markdown table."""
    plain = (" ".join(str(cell).split()).replace("|", "\\|") for cell in cells)
    return "| " + " | ".join(plain) + " |"

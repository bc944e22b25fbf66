"""The keys of the configuration that decide what is read out of an object."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator


class RecordSettings(BaseModel):
    """How files of records are read: JSON, JSON Lines, CSV, TSV and Parquet."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    documents: Literal["auto", "file", "record"] = Field(
        default="auto",
        description="A document a file or a record; auto: a record for JSON Lines and Parquet, else a file.",
    )
    id: str | None = Field(
        default=None, description="Field that names a record; None: its number in the file, from 1."
    )
    title: str | None = Field(default=None, description="Field with a record's title.")
    text: tuple[str, ...] = Field(
        default=(), description="Fields that are a record's text, in order; none: all, each with its name."
    )
    metadata: tuple[str, ...] = Field(default=(), description="Fields that are kept as metadata.")


class OcrSettings(BaseModel):
    """Reading the text of pictures, and of pages of PDFs that have none: with the extra `ocr`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    engine: Literal["off", "tesseract"] = Field(
        default="off",
        description="tesseract: the program of that name, which must be on the workers' PATH.",
    )
    languages: str = Field(
        default="eng",
        pattern=r"^[\w/]+(\+[\w/]+)*$",
        description="Its names of the languages, as eng+deu; their data must be installed.",
    )
    dpi: int = Field(default=300, ge=70, le=600, description="Dots an inch that pages are drawn with.")

    @field_validator("engine")
    @classmethod
    def _installed(cls, engine: str) -> str:
        if engine != "off" and find_spec("pytesseract") is None:
            raise ValueError("needs the extra `ocr`: pip install 'parquetry[ocr]'")
        return engine


class ExtractSettings(BaseModel):
    """How a source's objects are read."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    encoding: str | None = Field(
        default=None, description="Of text files; None: declared, else UTF-8, else guessed."
    )
    detect_language: bool = Field(
        default=True,
        description="Tell a document's language by its words; False: only as the file states it.",
    )
    main_content: bool = Field(default=True, description="HTML: leave menus, headers and footers out.")
    pdf_engine: Literal["pdfium", "pdfplumber"] = Field(
        default="pdfium", description="What reads PDFs; pdfplumber is ten times slower."
    )
    pdf_tables: bool = Field(default=True, description="PDF: write ruled tables as rows with pipes.")
    page_furniture: Literal["drop", "keep"] = Field(
        default="drop", description="PDF: heads, feet and page numbers that repeat from page to page."
    )
    hidden_text: Literal["drop", "keep"] = Field(
        default="drop",
        description="Hidden runs, shapes and slides of office files; invisible text of PDFs and text beside "
        "their pages.",
    )
    records: RecordSettings = Field(
        default=RecordSettings(), description="Files of records: JSON Lines, CSV, Parquet."
    )
    ocr: OcrSettings = Field(default=OcrSettings(), description="Text of pictures and scanned pages.")
    max_pages: int = Field(default=20_000, ge=1, description="PDFs with more pages are rejected.")
    max_expanded_bytes: int = Field(
        default=256 << 20, ge=1, description="Bytes that one compressed object may expand to."
    )
    max_expansion_ratio: int = Field(
        default=200, ge=2, description="Bytes out for each byte in, counted from 10 MiB on."
    )
    max_members: int = Field(default=10_000, ge=1, description="Files in one archive or office file.")
    max_nesting: int = Field(
        default=4, ge=0, description="Archives and attachments in each other, the outermost counted as one."
    )

    isolate: bool = Field(
        default=True, description="Read in a process that is ended at max_seconds and max_memory_mb."
    )
    max_seconds: float = Field(default=120, gt=0, description="Time to read one object.")
    max_memory_mb: int = Field(default=2048, ge=64, description="Memory to read one object.")

    @field_validator("encoding")
    @classmethod
    def _known(cls, encoding: str | None) -> str | None:
        if encoding is not None:
            try:
                # Python knows more codecs than those of text: base64, rot13, "undefined".
                "a".encode(encoding)
            except (LookupError, UnicodeError):
                raise ValueError(
                    "is no encoding of text that Python knows, such as cp1252 or shift_jis"
                ) from None
        return encoding

"""Every reason for which a document is refused: the slug that people filter by, and what to do about it."""

from __future__ import annotations

BUG = "extractor_bug"
"""The reason that blames the program: all others say something of the file."""

REASONS: dict[str, str] = {
    "empty": "The object has no bytes, or nothing but white space. Fill it or leave it out with `exclude`.",
    "no_text": "There are pages and no text on them, as in a scan. Set `extract.ocr.engine`, or run OCR on it before.",
    "encrypted": "The file asks for a password or is protected. Store a copy without protection.",
    "pdf_encrypted": "The PDF asks for a password. Store a copy without one.",
    "corrupt": "The file is damaged or cut off. Replace it by an intact copy.",
    "pdf_corrupt": "The PDF is damaged or cut off. Replace it by an intact copy.",
    "ocr_failed": "OCR was asked for and tesseract failed. Install it, its languages, or set `extract.ocr`.",
    "unsupported_type": "The format is not read. Convert it, or leave it out with `exclude`.",
    "wrong_charset": "The text's encoding cannot be told. Convert it to UTF-8 or set `extract.encoding`.",
    "suspect_text": "The text layer is garbage, as of a font without a character map. Run OCR on the pages.",
    "too_large": "The object is larger than its limit. Split it or raise the limit.",
    "too_many_pages": "The PDF has more pages than `extract.max_pages`. Split it or raise the limit.",
    "decompression_bomb": "The file expands beyond `extract.max_expanded_bytes` or `extract.max_expansion_ratio`.",
    "too_deep": "Archives or attachments lie in each other deeper than `extract.max_nesting`, or a page its elements.",
    "timeout": "Reading took longer than `extract.max_seconds`. Split the file or raise the limit.",
    "out_of_memory": "Reading needed more than `extract.max_memory_mb`. Split the file or raise the limit.",
    "crashed": "The library that reads the format ended its process on this file. Save it anew or report it.",
    "reader_failed": "The library that reads the format gave up on this file. Save it anew or report it.",
    BUG: "A fault of this program, not of the file: the detail says where. Please report it.",
    "unreadable": "The object could not be fetched from its store.",
}
"""Slug to a sentence that says what happened and what helps."""

OUTCOMES: dict[str, str] = {
    "empty": "empty",
    "no_text": "no_text",
    "encrypted": "encrypted",
    "pdf_encrypted": "encrypted",
    "corrupt": "corrupt",
    "pdf_corrupt": "corrupt",
    "unsupported_type": "unsupported",
    "too_large": "too_large",
    "too_many_pages": "too_large",
    "decompression_bomb": "too_large",
    "timeout": "timeout",
    "suspect_text": "suspect_text",
}
"""Slug to the few states that programs which compare extractors know; all others are ``rejected``."""

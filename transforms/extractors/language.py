"""Which language a document is written in: what its words say, else what the file states.

Templates and programs state a language that nobody changes, so words that are many and clear count for more.
Where both name the same language the stated tag stays, which may say more (``en-GB``).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from transforms.model.document import BlockKind

if TYPE_CHECKING:
    from transforms.model.document import Document

STATED_OTHERWISE = "language_stated"
"""Warning: the file states another language than its words are in."""

_WINDOW = 250
"""Code points that are looked at in the beginning, the middle and the end of a document: detection takes time
in proportion, and more of them hardly ever change what is found."""
_LETTERS_AT_LEAST = 8
_LETTERS_TO_OVERRULE = 200
_SHARE_AT_LEAST = 60
"""Percent of the text that must be in one language."""
_NO_LETTERS = {code: " " for code in range(0x80) if not chr(code).isalpha()}
_NO_WORDS = re.compile(r"[\W\d_]+")
_CODES = {"iw": "he", "jw": "jv", "in": "id", "mo": "ro", "ji": "yi"}
"""Codes that were given up."""


def with_language(document: Document) -> Document:
    """The document with its language as a BCP 47 tag, None where neither words nor file tell."""
    stated = (document.language or "").strip().replace("_", "-") or None
    words = _words(document)
    found = detect(words)
    if found is None or (stated is not None and _primary(stated) == _primary(found)):
        return document if document.language == stated else replace(document, language=stated)
    if stated is None:
        return replace(document, language=found)
    if len(words) < _LETTERS_TO_OVERRULE:
        return replace(document, language=stated)
    warnings = (*document.warnings, f"{STATED_OTHERWISE}:{stated}")
    return replace(document, language=found, warnings=warnings)


def detect(words: str) -> str | None:
    """The language of a text, None where it is too short, mixed or unclear."""
    import pycld2

    if len(words) - words.count(" ") < _LETTERS_AT_LEAST:
        return None
    try:
        is_reliable, _, details = pycld2.detect(words.encode("utf-8"))
    except pycld2.error:
        # It refuses what no text is made of, as code points that are no characters.
        is_reliable, _, details = pycld2.detect(_NO_WORDS.sub(" ", words).encode("utf-8"))
    code, percent = str(details[0][1]), int(details[0][2])
    # Codes that begin with x are scripts, not languages.
    if not is_reliable or percent < _SHARE_AT_LEAST or code == "un" or code.startswith("x"):
        return None
    return _CODES.get(code, code)


def _words(document: Document) -> str:
    """The words of three windows of the document, code left out, without the digits and signs of ASCII.

    Where code fills the windows, those of the first prose instead.
    """
    prose = [(block.start, block.end) for block in document.blocks if block.kind is not BlockKind.CODE]
    length, middle = len(document.text), len(document.text) // 2
    windows = [(0, length)]
    if length > 3 * _WINDOW:
        windows = [(0, _WINDOW), (middle, middle + _WINDOW), (length - _WINDOW, length)]
    seen = [
        document.text[max(start, first) : min(end, last)]
        for first, last in windows
        for start, end in prose
        if start < last and end > first
    ]
    if sum(map(len, seen)) < _WINDOW:
        seen = [document.text[start : min(end, start + _WINDOW)] for start, end in prose[:3]]
    return "\n".join(seen).translate(_NO_LETTERS)


def _primary(tag: str) -> str:
    return tag.partition("-")[0].lower()

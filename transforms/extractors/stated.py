"""What files state of themselves, as any column of the table can hold it: names, titles, metadata, reasons.

The canonical text has been through this. What stands beside it comes straight from YAML, JSON or headers, which
can spell halves of characters, NUL, and numbers that JSON has no word for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from transforms.extractors.extraction import Extraction
from transforms.model.document import JsonValue, canonical_text

if TYPE_CHECKING:
    from transforms.extractors.extraction import RefusedPart
    from transforms.model.document import Document

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_MOST_BITS = 10_000
"""Of a whole number: larger ones Python does not write as decimal digits, and no other program reads."""


def with_clean_facts(found: Extraction) -> Extraction:
    """The same documents and refused parts, with all that is stated of them in a form that can be stored."""
    return Extraction(tuple(map(_document, found.documents)), tuple(map(_refused, found.refused)))


def clean_value(value: JsonValue) -> JsonValue:
    """A value with canonical texts and names; numbers that JSON does not have are texts."""
    if isinstance(value, str):
        return canonical_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return hex(value)
    if isinstance(value, Mapping):
        return {canonical_text(str(name)): clean_value(inner) for name, inner in value.items()}
    return [clean_value(inner) for inner in value] if isinstance(value, list) else value


def _document(document: Document) -> Document:
    stated = document.title, document.record, document.language
    title, language = _text(document.title), _text(document.language)
    record = None if document.record is None else _name(document.record)
    metadata = {canonical_text(name): clean_value(value) for name, value in document.metadata.items()}
    if (title, record, language) == stated and metadata == document.metadata:
        # Of nearly all documents: a copy costs as much as all of this.
        return document
    return replace(document, title=title, record=record, language=language, metadata=metadata)


def _refused(part: RefusedPart) -> RefusedPart:
    return replace(part, record=_name(part.record), detail=canonical_text(part.detail))


def _name(name: str) -> str:
    """A name as it is, but for what no column can hold: a mark or a line end in it tells it from others."""
    return _UNSTORABLE.sub("\ufffd", name)


def _text(text: str | None) -> str | None:
    return None if text is None else canonical_text(text) or None

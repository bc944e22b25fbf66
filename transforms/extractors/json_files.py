"""Reads JSON and JSON Lines: what is nested becomes lines ``name: value``, a record a paragraph."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from transforms.extractors.charset import decode
from transforms.extractors.records import BrokenRecord, Number, Record, is_by_record, record_documents
from transforms.model.document import JsonValue, canonical_text
from transforms.model.errors import RejectedError

if TYPE_CHECKING:
    from transforms.extractors.extraction import Extraction
    from transforms.extractors.settings import ExtractSettings

JSON, JSONL = "application/json", "application/jsonl"


def extract_json(data: bytes, name: str, settings: ExtractSettings) -> Extraction:  # noqa: ARG001
    """One document, or one for each element of a list where the configuration says so.

    Raises:
        RejectedError: ``corrupt`` or ``wrong_charset``.
    """
    text, warnings = decode(data, settings.encoding)
    try:
        value = _parse(canonical_text(text))
    except ValueError as error:
        raise RejectedError("corrupt", f"The file is no JSON: {error}.") from error
    elements = value if isinstance(value, list) else [value]
    records = [Record(number, element) for number, element in enumerate(elements, 1)]
    found = record_documents(records, settings, JSON, by_record=is_by_record(settings, auto=False))
    return _warned(found, warnings)


def extract_jsonl(data: bytes, name: str, settings: ExtractSettings) -> Extraction:  # noqa: ARG001
    """A document a line, or one of all lines; blank lines are passed over.

    Raises:
        RejectedError: ``wrong_charset``.
    """
    text, warnings = decode(data, settings.encoding)
    records = _lines(canonical_text(text))
    found = record_documents(records, settings, JSONL, by_record=is_by_record(settings, auto=True))
    return _warned(found, warnings)


def _lines(text: str) -> Iterator[Record | BrokenRecord]:
    for number, line in enumerate(io.StringIO(text), 1):
        if not line.strip():
            continue
        try:
            yield Record(number, _parse(line.removesuffix("\n")))
        except ValueError as error:
            yield BrokenRecord(number, f"line {number} is no JSON: {error}.")


def _parse(text: str) -> JsonValue:
    """Raises ValueError for what is no JSON, and for what is nested without end."""
    try:
        value: JsonValue = json.loads(text, parse_int=Number, parse_float=Number, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("it is nested deeper than any program writes it") from error
    return value


def _refuse(constant: str) -> JsonValue:
    raise ValueError(f"{constant} is no value of JSON")


def _warned(found: Extraction, warnings: tuple[str, ...]) -> Extraction:
    if not warnings:
        return found
    documents = (replace(document, warnings=warnings + document.warnings) for document in found.documents)
    return replace(found, documents=tuple(documents))

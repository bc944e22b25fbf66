"""Reads JSON and JSON Lines: what is nested becomes lines ``name: value``, a record a paragraph."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from transforms.extractors.charset import decode
from transforms.extractors.ranged_text import range_text
from transforms.extractors.records import (
    BrokenRecord,
    Number,
    Record,
    is_by_record,
    record_documents,
    with_warnings,
)
from transforms.model.document import JsonValue, canonical_text
from transforms.model.errors import RejectedError

if TYPE_CHECKING:
    from transforms.extractors.extraction import Extraction
    from transforms.extractors.settings import ExtractSettings
    from transforms.model.objects import RecordRange

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
    return with_warnings(found, warnings)


def extract_jsonl(
    data: bytes,
    name: str,  # noqa: ARG001
    settings: ExtractSettings,
    part: RecordRange | None = None,
) -> Extraction:
    """A document a line, or one of all lines; blank lines are passed over.

    Raises:
        RejectedError: ``wrong_charset``.
    """
    if part is None:
        text, warnings = decode(data, settings.encoding)
        text = canonical_text(text)
    else:
        text, warnings = range_text(data, settings.encoding, part)
    records = json_lines(text, 0 if part is None else part.before)
    by_record = is_by_record(settings, auto=True)
    return with_warnings(
        record_documents(records, settings, JSONL, by_record=by_record, part=part), warnings
    )


def json_lines(text: str, before: int = 0) -> Iterator[Record | BrokenRecord]:
    """The records of canonical text that has so many lines before it."""
    for number, line in enumerate(io.StringIO(text), before + 1):
        if not line.strip():
            continue
        try:
            yield Record(number, _parse(line.removesuffix("\n")))
        except json.JSONDecodeError as error:
            # Its own sentence counts lines from this one.
            yield BrokenRecord(number, f"line {number} is no JSON: {error.msg} (column {error.colno}).")
        except ValueError as error:
            yield BrokenRecord(number, f"line {number} is no JSON: {error}.")


def _parse(text: str) -> JsonValue:
    """Raises ValueError for what is no JSON, and for what is nested without end."""
    try:
        value: JsonValue = _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError("it is nested deeper than any program writes it") from error
    return value


def _constant(name: str) -> JsonValue:
    """What JSON has no sign for and Python and pandas write: NaN says that a value is missing."""
    return None if name == "NaN" else Number(name)


_DECODER = json.JSONDecoder(parse_int=Number, parse_float=Number, parse_constant=_constant)
"""One for all lines: to make it takes as long as to read a line."""

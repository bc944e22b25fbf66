"""Documents of records: one a record, or one a file; which fields are text, title, id and metadata.

A record's text is the fields that the configuration names, or else every value after its name. Values
stand as they were written: numbers are never rounded, and an empty value leaves no line.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from transforms.extractors.extraction import Extraction, RefusedPart
from transforms.extractors.record_names import RecordNames
from transforms.model.document import Document, JsonValue, canonical_text
from transforms.model.ids import id_part
from transforms.structure.blocks import parse_blocks

if TYPE_CHECKING:
    from transforms.extractors.settings import ExtractSettings, RecordSettings
    from transforms.model.objects import RecordRange

RECORDS = "records"
"""In a document's metadata: how many records it holds."""


class Number(str):
    """A number as it was written in its file."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Record:
    """One record; ``number`` counts from 1 and is its line or row in the file."""

    number: int
    value: JsonValue


@dataclass(frozen=True, slots=True)
class BrokenRecord:
    """A record that cannot be read, and why."""

    number: int
    detail: str


def record_documents(
    records: Iterable[Record | BrokenRecord],
    settings: ExtractSettings,
    media_type: str,
    *,
    by_record: bool,
    part: RecordRange | None = None,
) -> Extraction:
    """The documents of a file's records; broken and blank ones are refused beside their neighbours.

    Args:
        records: in their order.
        settings: of the source.
        media_type: of the file.
        by_record: whether each record is a document.
        part: which range of the file's records they are, if not all.
    """
    if by_record:
        names = RecordNames(dict(part.names) if part is not None else None)
        return _one_by_one(records, settings.records, media_type, names)
    return _whole(records, settings.records, media_type)


def record_name(record: Record | BrokenRecord, settings: RecordSettings) -> str:
    """What a record would like to be called: by its id, else by its number."""
    if isinstance(record, Record):
        name = _field(record.value, settings.id) or str(record.number)
    else:
        name = str(record.number) if settings.id is None else f"line {record.number}"
    return " ".join(name.split())


def with_warnings(found: Extraction, warnings: tuple[str, ...]) -> Extraction:
    """The same, each document with what is to be said of the whole file."""
    if not warnings:
        return found
    documents = (replace(document, warnings=warnings + document.warnings) for document in found.documents)
    return replace(found, documents=tuple(documents))


def is_by_record(settings: ExtractSettings, *, auto: bool) -> bool:
    """Whether each record is a document; ``auto`` is what the format does unless it is told."""
    documents = settings.records.documents
    return auto if documents == "auto" else documents == "record"


def flat_text(value: JsonValue) -> str:
    """A value as lines ``name: text``; names of values inside others are joined by dots."""
    return "\n".join(_lines(value, ""))


def _whole(
    records: Iterable[Record | BrokenRecord], settings: RecordSettings, media_type: str
) -> Extraction:
    texts = []
    refused = []
    for record in records:
        if isinstance(record, Record):
            texts.append(_text(record.value, settings))
        else:
            refused.append(RefusedPart(f"line {record.number}", "corrupt", record.detail, is_named=False))
    text = "\n\n".join(text for text in texts if text)
    # Of a file whose every record is broken there is no document, as if it had been read one by one.
    document = _document(text, media_type, metadata={RECORDS: len(texts)})
    return Extraction((document,) if texts or not refused else (), tuple(refused))


def _one_by_one(
    records: Iterable[Record | BrokenRecord], settings: RecordSettings, media_type: str, names: RecordNames
) -> Extraction:
    documents = []
    refused = []
    for record in records:
        own = id_part(names.take(record.number, record_name(record, settings)))
        found = _one(record, settings, media_type, own)
        if isinstance(found, Document):
            documents.append(found)
        else:
            refused.append(found)
    return Extraction(tuple(documents), tuple(refused))


def _one(
    record: Record | BrokenRecord, settings: RecordSettings, media_type: str, own: str
) -> Document | RefusedPart:
    """The document of one record, which is called ``own``."""
    if isinstance(record, BrokenRecord):
        return RefusedPart(own, "corrupt", record.detail, is_named=settings.id is None)
    value = record.value
    text = _text(value, settings)
    if not text:
        return RefusedPart(own, "empty", "The record has no text.")
    return _document(
        text,
        media_type,
        record=own,
        title=_field(value, settings.title) or None,
        metadata={
            name: plain(found) for name in settings.metadata if (found := _get(value, name)) is not None
        },
    )


def _document(
    text: str,
    media_type: str,
    *,
    metadata: dict[str, JsonValue],
    record: str | None = None,
    title: str | None = None,
) -> Document:
    return Document(
        text,
        parse_blocks(text, "plain"),
        media_type,
        "records/1",
        record=record,
        title=title,
        metadata=metadata,
    )


def _text(value: JsonValue, settings: RecordSettings) -> str:
    if not settings.text:
        return canonical_text(flat_text(value)).strip("\n")
    fields = (_field(value, name) for name in settings.text)
    return "\n\n".join(field for field in fields if field)


def _field(value: JsonValue, name: str | None) -> str:
    """A field's text; empty where there is none."""
    if name is None:
        return ""
    found = _get(value, name)
    text = found if isinstance(found, str) else flat_text(found)
    return canonical_text(text).strip("\n")


def _get(value: JsonValue, name: str) -> JsonValue:
    """A field by its name, or by the path of names joined by dots; None where there is none."""
    if not isinstance(value, Mapping):
        return None
    if name in value:
        return value[name]
    outer, _, rest = name.partition(".")
    return _get(value.get(outer), rest) if rest else None


def _lines(value: JsonValue, path: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _lines(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        if all(not isinstance(inner, Mapping | list) for inner in value):
            yield from _line(", ".join(filter(None, map(_scalar, value))), path)
        else:
            for number, inner in enumerate(value, 1):
                yield from _lines(inner, f"{path}.{number}" if path else str(number))
    else:
        yield from _line(_scalar(value), path)


def _line(text: str, path: str) -> Iterator[str]:
    if text.strip():
        yield f"{path}: {text}" if path else text


def _scalar(value: JsonValue) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def plain(value: JsonValue) -> JsonValue:
    """A value with its numbers as numbers."""
    if isinstance(value, Number):
        return _number(value)
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def _number(written: Number) -> JsonValue:
    """As a number; as it was written where that would be infinite, or has more digits than Python reads."""
    try:
        number: float = json.loads(written)
    except ValueError:
        return str(written)
    return str(written) if isinstance(number, float) and math.isinf(number) else number

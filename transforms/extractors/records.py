"""Documents of records: one a record, or one a file; which fields are text, title, id and metadata.

A record's text is the fields that the configuration names, or else every value after its name. Values
stand as they were written: numbers are never rounded, and an empty value leaves no line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from transforms.model.document import Document, JsonValue, canonical_text
from transforms.model.errors import RejectedError
from transforms.structure.blocks import parse_blocks

if TYPE_CHECKING:
    from transforms.extractors.settings import ExtractSettings, RecordSettings

RECORDS = "records"
"""In a document's metadata: how many records it holds."""
_WARNINGS_AT_MOST = 20


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
    records: Iterable[Record | BrokenRecord], settings: ExtractSettings, media_type: str, *, by_record: bool
) -> list[Document]:
    """The documents of a file's records; broken ones are warnings beside their readable neighbours.

    Raises:
        RejectedError: ``corrupt`` where no record can be read.
    """
    read: list[Record] = []
    broken: list[BrokenRecord] = []
    for record in records:
        if isinstance(record, Record):
            read.append(record)
        else:
            broken.append(record)
    if broken and not read:
        raise RejectedError(
            "corrupt", f"No record can be read; record {broken[0].number}: {broken[0].detail}"
        )
    warnings = _warnings(broken)
    if not by_record:
        return [_whole(read, settings.records, media_type, warnings)]
    return list(_one_by_one(read, settings.records, media_type, warnings))


def is_by_record(settings: ExtractSettings, *, auto: bool) -> bool:
    """Whether each record is a document; ``auto`` is what the format does unless it is told."""
    documents = settings.records.documents
    return auto if documents == "auto" else documents == "record"


def flat_text(value: JsonValue) -> str:
    """A value as lines ``name: text``; names of values inside others are joined by dots."""
    return "\n".join(_lines(value, ""))


def _warnings(broken: list[BrokenRecord]) -> tuple[str, ...]:
    shown = [f"record_rejected:{each.number}: {each.detail}" for each in broken[:_WARNINGS_AT_MOST]]
    more = len(broken) - len(shown)
    return (*shown, f"records_rejected:{more} more") if more else tuple(shown)


def _whole(
    records: list[Record], settings: RecordSettings, media_type: str, warnings: tuple[str, ...]
) -> Document:
    texts = [_text(record.value, settings) for record in records]
    text = "\n\n".join(text for text in texts if text)
    return _document(text, media_type, metadata={RECORDS: len(records)}, warnings=warnings)


def _one_by_one(
    records: list[Record], settings: RecordSettings, media_type: str, warnings: tuple[str, ...]
) -> Iterator[Document]:
    taken: set[str] = set()
    for record in records:
        value = record.value
        text = _text(value, settings)
        if not text:
            continue
        yield _document(
            text,
            media_type,
            record=_own_name(_field(value, settings.id) or str(record.number), taken),
            title=_field(value, settings.title) or None,
            metadata={
                name: plain(found) for name in settings.metadata if (found := _get(value, name)) is not None
            },
            warnings=warnings,
        )
        warnings = ()


def _document(
    text: str,
    media_type: str,
    *,
    metadata: dict[str, JsonValue],
    warnings: tuple[str, ...],
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
        warnings=warnings,
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


def _own_name(name: str, taken: set[str]) -> str:
    """The second record of one name is ``name (2)``."""
    name = " ".join(name.split())
    own, number = name, 1
    while own in taken:
        number += 1
        own = f"{name} ({number})"
    taken.add(own)
    return own


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
        number: JsonValue = json.loads(value)
        return number
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value

"""Reads Parquet: a document a row, or one of all rows; columns are the fields of a record."""

from __future__ import annotations

import base64
import datetime
import io
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from transforms.extractors.records import Number, Record, is_by_record, record_documents
from transforms.model.errors import RejectedError

if TYPE_CHECKING:
    import pyarrow.parquet as pq

    from transforms.extractors.extraction import Extraction
    from transforms.extractors.settings import ExtractSettings
    from transforms.model.document import JsonValue

PARQUET = "application/vnd.apache.parquet"
_BATCH = 4096


def extract_parquet(data: bytes, name: str, settings: ExtractSettings) -> Extraction:  # noqa: ARG001
    """The documents of a Parquet file's rows; of nested values as of JSON.

    Raises:
        RejectedError: ``corrupt``, ``encrypted``, or ``decompression_bomb``.
    """
    by_record = is_by_record(settings, auto=True)
    return record_documents(_records(data, settings), settings, PARQUET, by_record=by_record)


def _records(data: bytes, settings: ExtractSettings) -> Iterator[Record]:
    number = 0
    for rows in _batches(data, settings):
        for row in rows:
            number += 1
            yield Record(number, _json(row))


def _batches(data: bytes, settings: ExtractSettings) -> Iterator[list[dict[str, object]]]:
    """The rows of the file, a few thousand at a time; what the library says of bad files is translated."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(io.BytesIO(data))
        expanded = sum(file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups))
        if expanded > settings.max_expanded_bytes:
            limit = f"extract.max_expanded_bytes = {settings.max_expanded_bytes:,}"
            raise RejectedError(
                "decompression_bomb", f"The table expands to {expanded:,} bytes, over {limit}."
            )
        for batch in file.iter_batches(batch_size=_BATCH, columns=_columns(file, settings)):
            yield batch.to_pylist(maps_as_pydicts="lossy")
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        said = str(error).partition("\n")[0]
        if "encrypt" in said.lower():
            raise RejectedError(
                "encrypted", "The Parquet file is encrypted; store it decrypted."
            ) from error
        raise RejectedError("corrupt", f"The Parquet file cannot be read: {said}") from error


def _columns(file: pq.ParquetFile, settings: ExtractSettings) -> list[str] | None:
    """The columns that are asked for; all, where the text is of all."""
    records = settings.records
    if not records.text:
        return None
    asked = {
        name.partition(".")[0]
        for name in (*records.text, *records.metadata, records.id or "", records.title or "")
    }
    return [name for name in file.schema_arrow.names if name in asked]


def _json(value: object) -> JsonValue:
    """A cell as JSON has it; bytes that are no text as base64."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Mapping):
        return {str(name): _json(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_json(inner) for inner in value]
    if isinstance(value, int | float | Decimal):
        text = str(value)
        return Number(text) if text.lstrip("-")[:1].isdigit() else text
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return base64.b64encode(value).decode("ascii")
    return str(value)

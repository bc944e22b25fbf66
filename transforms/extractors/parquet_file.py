"""Reads Parquet: a document a row, or one of all rows; columns are the fields of a record."""

from __future__ import annotations

import base64
import datetime
import io
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from transforms.extractors.records import Number, Record, is_by_record, record_documents
from transforms.extractors.spread_file import spread_file
from transforms.model.errors import RejectedError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from transforms.extractors.extraction import Extraction
    from transforms.extractors.settings import ExtractSettings
    from transforms.model.document import JsonValue
    from transforms.model.objects import RecordRange

PARQUET = "application/vnd.apache.parquet"
_BATCH = 4096


def extract_parquet(
    data: bytes,
    name: str,  # noqa: ARG001
    settings: ExtractSettings,
    part: RecordRange | None = None,
) -> Extraction:
    """The documents of a Parquet file's rows; of nested values as of JSON.

    Raises:
        RejectedError: ``corrupt``, ``encrypted``, or ``decompression_bomb``.
    """
    by_record = is_by_record(settings, auto=True)
    records = _records(data, settings, part)
    return record_documents(records, settings, PARQUET, by_record=by_record, part=part)


def row_values(batch: pa.RecordBatch) -> list[JsonValue]:
    """The rows of a batch as records have them."""
    columns = [_values(column) for column in batch.columns]
    return [
        {name: _json(value) for name, value in zip(batch.schema.names, row, strict=True)}
        for row in zip(*columns, strict=True)
    ]


def group_span(group: pq.RowGroupMetaData) -> tuple[int, int]:
    """Where in its file the columns of a row group lie."""
    columns = [group.column(number) for number in range(group.num_columns)]
    starts = [
        min(place for place in (one.dictionary_page_offset, one.data_page_offset) if place is not None)
        for one in columns
    ]
    ends = (start + one.total_compressed_size for start, one in zip(starts, columns, strict=True))
    return min(starts), max(ends)


def columns_of(file: pq.ParquetFile, fields: Iterable[str]) -> list[str]:
    """The columns that hold fields, which may lie inside them."""
    asked = {name.partition(".")[0] for name in fields} | set(fields)
    return [name for name in file.schema_arrow.names if name in asked]


def _records(data: bytes, settings: ExtractSettings, part: RecordRange | None) -> Iterator[Record]:
    number = 0 if part is None else part.before
    for rows in _batches(data, settings, part):
        for row in rows:
            number += 1
            yield Record(number, row)


def _batches(data: bytes, settings: ExtractSettings, part: RecordRange | None) -> Iterator[list[JsonValue]]:
    """The rows of the file, a few thousand at a time; what the library says of bad files is translated."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(io.BytesIO(data) if part is None else spread_file(data, part.spans))
        groups = _groups(file, part)
        expanded = sum(file.metadata.row_group(group).total_byte_size for group in groups)
        if expanded > settings.max_expanded_bytes:
            limit = f"extract.max_expanded_bytes = {settings.max_expanded_bytes:,}"
            raise RejectedError(
                "decompression_bomb", f"The table expands to {expanded:,} bytes, over {limit}."
            )
        for batch in file.iter_batches(_BATCH, row_groups=groups, columns=_columns(file, settings)):
            yield row_values(batch)
    except (pa.ArrowException, OSError, ValueError, KeyError, OverflowError) as error:
        said = str(error).partition("\n")[0]
        if "encrypt" in said.lower():
            raise RejectedError(
                "encrypted", "The Parquet file is encrypted; store it decrypted."
            ) from error
        raise RejectedError("corrupt", f"The Parquet file cannot be read: {said}") from error


def _groups(file: pq.ParquetFile, part: RecordRange | None) -> list[int]:
    """The row groups that lie in a range; all without one."""
    groups = range(file.num_row_groups)
    if part is None:
        return [*groups]
    start, end = part.spans[0]
    spans = ((group, group_span(file.metadata.row_group(group))) for group in groups)
    return [group for group, (first, last) in spans if start <= first and last <= end]


def _columns(file: pq.ParquetFile, settings: ExtractSettings) -> list[str] | None:
    """The columns that are asked for; all, where the text is of all."""
    records = settings.records
    if not records.text:
        return None
    return columns_of(file, [*records.text, *records.metadata, *filter(None, (records.id, records.title))])


def _values(column: pa.Array) -> list[object]:
    """The values of a column; moments that Python has no value for as text."""
    import pyarrow as pa

    try:
        values: list[object] = column.to_pylist(maps_as_pydicts="lossy")
    except (OverflowError, ValueError):
        if not pa.types.is_temporal(column.type):
            raise
        values = [_moment(one) for one in column]
    return values


def _moment(moment: pa.Scalar) -> object:
    """A moment as Python has it, else as Arrow writes it: from the year 10,000 on, or before the year 1."""
    import pyarrow as pa

    try:
        return moment.as_py()
    except (OverflowError, ValueError):
        return moment.cast(pa.string()).as_py()


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

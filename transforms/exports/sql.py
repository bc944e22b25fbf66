"""What the exports to SQL stores have in common: Parquet with the table's columns, and statements that merge them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from transforms.exports.checking import Broken, Folder, Known
from transforms.exports.files import Cap, ParquetOutput
from transforms.exports.profile import COLUMNS, Fault, Job
from transforms.exports.rules import ID, VECTOR
from transforms.exports.sparse import column_faults, signed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SQL_COLUMNS = (
    *COLUMNS,
    "breadcrumb",
    "prev_id",
    "next_id",
    "tokens",
    "metadata",
    "embed_model",
    "changed_in",
)
"""More than others: columns cost nothing there."""
IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]{0,62}"
_SHOWN = 20
_DELETED = pa.schema([pa.field(ID, pa.string(), nullable=False)])


def upserts(job: Job) -> ParquetOutput:
    """The rows with their columns as they are, in one order in every file."""
    schema = pa.schema(
        [
            pa.field(ID, pa.string(), nullable=False),
            pa.field(VECTOR, pa.list_(pa.field("element", pa.float32(), nullable=False))),
            *map(signed, job.fields),
        ]
    )

    def encode(batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch.select(schema.names).cast(schema)

    return ParquetOutput("upserts/part-{:06}.parquet", encode)


def deletes(_job: Job) -> ParquetOutput:
    """The ids to delete, as a column of the same name."""
    return ParquetOutput(
        "deletes/part-{:06}.parquet",
        lambda batch: batch.select([ID]).cast(_DELETED),
        Cap(10**6, 2**27),
    )


def assignments(job: Job, quoted: Callable[[str], str], new: str) -> str:
    """``a = new.a, ...`` of all columns but the id."""
    return ", ".join(f"{quoted(name)} = {new}.{quoted(name)}" for name in job.names[1:])


def column_list(job: Job, quoted: Callable[[str], str], prefix: str = "") -> str:
    """All columns, id first."""
    return ", ".join(prefix + quoted(name) for name in job.names)


def check_parquet(folder: Folder, dimensions: int, row_bytes: int) -> Iterator[Fault]:
    """Faults of ``upserts/`` and ``deletes/``: one schema, ids once, vectors of one length, rows not too large."""
    yield from folder.strangers(
        r"[^/]+\.sql|(upserts|deletes)/[^/]+\.parquet",
        "*.sql, upserts/*.parquet and deletes/*.parquet are known",
    )
    known, gone = Known(), Known()

    def row_faults(row: dict[str, object]) -> Iterator[Broken]:
        yield from known.id_faults(row[ID], ".+", "a string that holds something")
        yield from known.vector_faults(row[VECTOR], dimensions)
        yield from column_faults(row)
        size = sum(len(value.encode()) for value in row.values() if isinstance(value, str))
        if size > row_bytes:
            yield "size", f"the row has {size:,} bytes, more than {row_bytes:,}"

    def id_faults(row: dict[str, object]) -> Iterator[Broken]:
        yield from gone.id_faults(row[ID], ".+", "a string that holds something")

    schemas = {name: folder.schema(name) for name in folder.names("upserts/")}
    first = next((schema for schema in schemas.values() if schema is not None), None)
    for name, schema in schemas.items():
        if schema is not None and not schema.equals(first):
            yield Fault(name, "columns", f"other columns, types or order than {next(iter(schemas))}")
        columns = {} if schema is None else dict(zip(schema.names, schema.types, strict=True))
        wanted = {ID: pa.string(), VECTOR: pa.list_(pa.float32())}
        yield from folder.rows(name, columns | wanted, row_faults)
    for name in folder.names("deletes/"):
        yield from folder.rows(name, {ID: pa.string()}, id_faults)
    for identifier in sorted(known.ids & gone.ids)[:_SHOWN]:
        yield Fault("deletes/", "id_in_both", f"id {identifier!r} is in upserts/ too")

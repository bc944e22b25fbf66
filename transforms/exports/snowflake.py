"""Snowflake: Parquet for a stage, and the statements that load it. Vectors come as ARRAY and are cast to VECTOR."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from transforms.exports.profile import Fault, Files, Job, Profile, Rows
from transforms.exports.rules import ID, VECTOR, Rule, column_bytes, id_bytes, texts
from transforms.exports.sparse import COLUMNS_OF_LISTS
from transforms.exports.sql import (
    IDENTIFIER,
    SQL_COLUMNS,
    assignments,
    check_parquet,
    column_list,
    deletes,
    upserts,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from transforms.exports.checking import Folder

_TEXT_BYTES = 16 * 2**20
_DIMENSIONS = 4_096


def _rules(job: Job) -> tuple[Rule, ...]:
    return (id_bytes(_TEXT_BYTES), column_bytes(texts(job.fields), _TEXT_BYTES))


def _beside(job: Job, files: Files) -> Mapping[str, str]:
    table = job.name
    begin = [
        f"CREATE TABLE IF NOT EXISTS {table} ({_definition(job, f'VECTOR(FLOAT, {job.dimension})')})",
        "CREATE FILE FORMAT IF NOT EXISTS parquetry_parquet TYPE = PARQUET USE_LOGICAL_TYPE = TRUE",
    ]
    # DDL ends a transaction, so that it comes before.
    merge = ["BEGIN", *([f"DELETE FROM {table}"] if job.since is None else [])]
    if files.deletes:
        begin.append(f"CREATE OR REPLACE TEMPORARY TABLE {table}_deletes ({ID} STRING NOT NULL)")
        begin.append(_copy(f"{table}_deletes", f"$1:{ID}::STRING", "deletes"))
        merge.append(f"DELETE FROM {table} WHERE {ID} IN (SELECT {ID} FROM {table}_deletes)")
    if files.upserts:
        begin.append(f"CREATE OR REPLACE TEMPORARY TABLE {table}_upserts ({_definition(job, 'ARRAY')})")
        begin.append(_copy(f"{table}_upserts", _read(job), "upserts"))
        merge.append(
            f"MERGE INTO {table} USING (SELECT {_cast(job)} FROM {table}_upserts) AS new ON {table}.{ID} = new.{ID}\n"
            f"WHEN MATCHED THEN UPDATE SET {assignments(job, str, 'new')}\n"
            f"WHEN NOT MATCHED THEN INSERT ({column_list(job, str)}) VALUES ({column_list(job, str, 'new.')})"
        )
    return {"load.sql": "".join(f"{statement};\n" for statement in [*begin, *merge, "COMMIT"])}


def _copy(table: str, columns: str, folder: str) -> str:
    return (
        f"COPY INTO {table} FROM (SELECT {columns} FROM @STAGE/{folder}/)\n"
        "FILE_FORMAT = (FORMAT_NAME = 'parquetry_parquet') PATTERN = '.*[.]parquet' ON_ERROR = ABORT_STATEMENT"
    )


def _read(job: Job) -> str:
    typed = [f"$1:{ID}::STRING", f"$1:{VECTOR}::ARRAY"]
    return ", ".join([*typed, *(f"$1:{field.name}::{_type(field.type)}" for field in job.fields)])


def _cast(job: Job) -> str:
    vector = f"{VECTOR}::VECTOR(FLOAT, {job.dimension}) AS {VECTOR}"
    return ", ".join([ID, vector, *(field.name for field in job.fields)])


def _definition(job: Job, vector: str) -> str:
    columns = [f"{ID} STRING NOT NULL", f"{VECTOR} {vector}"]
    return ", ".join([*columns, *(f"{field.name} {_type(field.type)}" for field in job.fields)])


def _type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return "ARRAY"
    if pa.types.is_integer(kind):
        return "INTEGER"
    if pa.types.is_floating(kind):
        return "FLOAT"
    if pa.types.is_date(kind):
        return "DATE"
    return "BINARY" if pa.types.is_binary(kind) else "STRING"


def _check(folder: Folder) -> Iterator[Fault]:
    yield from check_parquet(folder, _DIMENSIONS, _TEXT_BYTES)


PROFILE = Profile(
    name="snowflake",
    title="Snowflake",
    sources=(
        "https://docs.snowflake.com/en/sql-reference/data-types-vector",
        "https://docs.snowflake.com/en/sql-reference/sql/copy-into-table",
    ),
    folder="",
    columns=SQL_COLUMNS,
    most_dimensions=_DIMENSIONS,
    form=Rows(_rules, upserts, deletes, _beside),
    load=(
        "Put the folder into a stage (PUT, or CREATE STAGE with its URL), write the stage's name for @STAGE in "
        "load.sql, and run it: snow sql -f load.sql."
    ),
    check=_check,
    sparse=COLUMNS_OF_LISTS,
    name_pattern=IDENTIFIER,
)

"""BigQuery: Parquet in a bucket, and the statements that load it: a whole snapshot in one step, changes by MERGE."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from transforms.exports.profile import Fault, Files, Job, Profile, Rows
from transforms.exports.rules import ID, VECTOR, Rule, column_bytes, id_bytes, texts
from transforms.exports.sparse import COLUMNS_OF_LISTS
from transforms.exports.sql import SQL_COLUMNS, assignments, check_parquet, column_list, deletes, upserts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from transforms.exports.checking import Folder

_ROW_BYTES = 50 * 10**6
_DIMENSIONS = 2**31 - 1


def _rules(job: Job) -> tuple[Rule, ...]:
    return (id_bytes(_ROW_BYTES), column_bytes(texts(job.fields), _ROW_BYTES // 2))


def _beside(job: Job, files: Files) -> Mapping[str, str]:
    statements = _whole(job, files) if job.since is None else _changes(job, files)
    return {"load.sql": "".join(f"{statement};\n" for statement in statements)}


def _whole(job: Job, files: Files) -> list[str]:
    if not files.upserts:
        return [f"CREATE OR REPLACE TABLE {_table(job)} ({_definition(job)})"]
    return [_load(job, _table(job), _definition(job), "upserts")]


def _changes(job: Job, files: Files) -> list[str]:
    new, gone = _table(job, "_upserts"), _table(job, "_deletes")
    before: list[str] = []
    inside: list[str] = []
    after: list[str] = []
    if files.deletes:
        before.append(_load(job, gone, f"{_quoted(ID)} STRING NOT NULL", "deletes"))
        inside.append(
            f"DELETE FROM {_table(job)} WHERE {_quoted(ID)} IN (SELECT {_quoted(ID)} FROM {gone})"
        )
        after.append(f"DROP TABLE {gone}")
    if files.upserts:
        before.append(_load(job, new, _definition(job), "upserts"))
        inside.append(
            f"MERGE INTO {_table(job)} AS held USING {new} AS new ON held.{_quoted(ID)} = new.{_quoted(ID)}\n"
            f"WHEN MATCHED THEN UPDATE SET {assignments(job, _quoted, 'new')}\n"
            f"WHEN NOT MATCHED THEN INSERT ({column_list(job, _quoted)}) VALUES ({column_list(job, _quoted, 'new.')})"
        )
        after.append(f"DROP TABLE {new}")
    return [*before, "BEGIN TRANSACTION", *inside, "COMMIT TRANSACTION", *after]


def _load(job: Job, table: str, definition: str, folder: str) -> str:
    to = job.to if job.to.startswith("gs://") else "gs://BUCKET/FOLDER"
    return (
        f"LOAD DATA OVERWRITE {table} ({definition})\n"
        f"FROM FILES (format = 'PARQUET', enable_list_inference = TRUE, uris = ['{to}/{folder}/*.parquet'])"
    )


def _definition(job: Job) -> str:
    columns = [f"{_quoted(ID)} STRING NOT NULL", f"{_quoted(VECTOR)} ARRAY<FLOAT64>"]
    return ", ".join([*columns, *(f"{_quoted(field.name)} {_type(field.type)}" for field in job.fields)])


def _type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"ARRAY<{_type(kind.value_type)}>"
    if pa.types.is_integer(kind):
        return "INT64"
    if pa.types.is_floating(kind):
        return "FLOAT64"
    if pa.types.is_date(kind):
        return "DATE"
    return "BYTES" if pa.types.is_binary(kind) else "STRING"


def _table(job: Job, suffix: str = "") -> str:
    return f"`{job.name}{suffix}`"


def _quoted(name: str) -> str:
    return f"`{name}`"


def _check(folder: Folder) -> Iterator[Fault]:
    yield from check_parquet(folder, _DIMENSIONS, _ROW_BYTES)


PROFILE = Profile(
    name="bigquery",
    title="BigQuery",
    sources=(
        "https://docs.cloud.google.com/bigquery/docs/loading-data-cloud-storage-parquet",
        "https://docs.cloud.google.com/bigquery/docs/reference/standard-sql/load-statements",
    ),
    folder="",
    columns=SQL_COLUMNS,
    most_dimensions=_DIMENSIONS,
    form=Rows(_rules, upserts, deletes, _beside),
    load="bq query --use_legacy_sql=false < load.sql, with the dataset in --name: DATASET.TABLE.",
    check=_check,
    sparse=COLUMNS_OF_LISTS,
    name_pattern=r"(?:[A-Za-z0-9-]+\.)?(?:[A-Za-z0-9_]+\.)?[A-Za-z0-9_]{1,1000}",
)

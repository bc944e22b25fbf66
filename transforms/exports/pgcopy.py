"""PostgreSQL with pgvector, and AlloyDB and Cloud SQL: CSV for COPY, and a script for psql in one transaction.

CSV is what ``COPY`` and the imports of both services take. Null is nothing between two commas, an empty text
two quotation marks. A sparse vector is a ``sparsevec``, as a load has it: with ids of terms folded into its dimensions.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from transforms.exports.checking import Broken, Folder, Known, NotJson, json_value, shown
from transforms.exports.encoding import json_vectors, lines, prefixed
from transforms.exports.files import LINES_BYTES, Cap, Output, TextOutput
from transforms.exports.json_text import json_column, relisted, text_lists
from transforms.exports.profile import Fault, Files, Job, Profile, Rows
from transforms.exports.rules import ID, VECTOR, Rule, id_bytes, id_without_nul, no_nul, texts
from transforms.exports.sparse import Sparse, sparse_faults
from transforms.exports.sql import SQL_COLUMNS, assignments, column_list
from transforms.loaders.folding import folded
from transforms.loaders.pgcopy import SPARSE_DIMENSIONS
from transforms.sparse.columns import INDICES, VALUES, from_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_ID_BYTES = 2_692
"""An entry of a B-tree has 2,704 bytes at most."""
_FIELD_BYTES = 2**30
_DIMENSIONS = 16_000
_HNSW_DIMENSIONS = 2_000
_HALF_DIMENSIONS = 4_000
_SPARSE = Sparse(
    most=16_000,
    note=f"A sparsevec has {SPARSE_DIMENSIONS:,} dimensions, into which ids of terms are folded: the place of term t "
    f"is t modulo that, plus one. ORDER BY sparse <#> '{{PLACE:WEIGHT,...}}/{SPARSE_DIMENSIONS}' puts the best first.",
)
_SPARSE_TEXT = re.compile(r"\{([^{}]*)\}/(\d+)")


def _rules(job: Job) -> tuple[Rule, ...]:
    return (id_bytes(_ID_BYTES), id_without_nul(), no_nul(texts(job.fields)))


def _upserts(job: Job) -> Output:
    def encode(batch: pa.RecordBatch) -> pa.RecordBatch:
        cells = [
            _quoted(batch[ID]),
            _quoted(json_vectors(batch)),
            *([] if job.sparse is None else [_quoted(_sparsevecs(batch))]),
            *(_cell(batch[field.name]) for field in job.fields),
        ]
        return lines(pc.binary_join_element_wise(*(pc.fill_null(cell, "") for cell in cells), ","))

    return TextOutput("upserts/part-{:06}.csv", encode, Cap(2**31, LINES_BYTES))


def _deletes(_job: Job) -> Output:
    return TextOutput(
        "deletes/part-{:06}.csv", lambda batch: lines(_quoted(batch[ID])), Cap(2**31, LINES_BYTES)
    )


def _cell(column: pa.Array) -> pa.Array:
    """A column as CSV: texts and lists in quotation marks, numbers and dates as they are, null as null."""
    if pa.types.is_list(column.type):
        return _quoted(_array(column))
    if pa.types.is_string(column.type):
        return _quoted(column)
    if pa.types.is_binary(column.type):
        return _quoted(
            pa.array([None if value is None else f"\\x{value.hex()}" for value in column.to_pylist()])
        )
    return pc.cast(column, pa.string())


def _array(lists: pa.Array) -> pa.Array:
    """Lists as literals of PostgreSQL's arrays."""
    values = pc.cast(lists.flatten(), pa.string())
    if pa.types.is_string(lists.type.value_type):
        for special in ("\\", '"'):
            values = pc.replace_substring(values, special, f"\\{special}")
        values = prefixed('"', values, '"')
    return prefixed("{", text_lists(relisted(lists, values), ","), "}")


def _sparsevecs(batch: pa.RecordBatch) -> pa.Array:
    """Sparse vectors as pgvector writes them, places from 1; an empty one where there is none."""
    found = from_columns(batch[INDICES], batch[VALUES])
    offsets, places, values = folded(found.offsets, found.indices, found.values, SPARSE_DIMENSIONS)
    pairs = pc.binary_join_element_wise(
        pc.cast(pa.array(places + 1), pa.string()), ":", json_column(pa.array(values)), ""
    )
    lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pairs)
    return prefixed("{", text_lists(lists, ","), f"}}/{SPARSE_DIMENSIONS}")


def _quoted(column: pa.Array) -> pa.Array:
    return prefixed('"', pc.replace_substring(column, '"', '""'), '"')


def _beside(job: Job, files: Files) -> Mapping[str, str]:
    table = _name(job.name)
    new, gone = _name(f"{job.name}_upserts"), _name(f"{job.name}_deletes")
    script = [
        r"\set ON_ERROR_STOP on",
        "CREATE EXTENSION IF NOT EXISTS vector;",
        f"CREATE TABLE IF NOT EXISTS {table} ({_definition(job)});",
        "BEGIN;",
    ]
    if job.since is None:
        script.append(f"DELETE FROM {table};")
    if files.deletes:
        script.append(f"CREATE TEMPORARY TABLE {gone} ({_name(ID)} text) ON COMMIT DROP;")
        script += [rf"\copy {gone} FROM '{file.path}' WITH (FORMAT csv)" for file in files.deletes]
        script.append(f"DELETE FROM {table} USING {gone} WHERE {table}.{_name(ID)} = {gone}.{_name(ID)};")
    if files.upserts:
        columns = column_list(job, _name)
        script.append(f"CREATE TEMPORARY TABLE {new} (LIKE {table}) ON COMMIT DROP;")
        script += [
            rf"\copy {new} ({columns}) FROM '{file.path}' WITH (FORMAT csv)" for file in files.upserts
        ]
        script.append(
            f"INSERT INTO {table} ({columns}) SELECT {columns} FROM {new} "
            f"ON CONFLICT ({_name(ID)}) DO UPDATE SET {assignments(job, _name, 'excluded')};"
        )
    script += ["COMMIT;", *_index(job, table)]
    return {"load.sql": "".join(f"{line}\n" for line in script)}


def _definition(job: Job) -> str:
    columns = [f"{_name(ID)} text PRIMARY KEY", f"{_name(VECTOR)} vector({job.dimension})"]
    if job.sparse_name is not None:
        columns.append(f"{_name(job.sparse_name)} sparsevec({SPARSE_DIMENSIONS})")
    return ", ".join([*columns, *(f"{_name(field.name)} {_type(field.type)}" for field in job.fields)])


def _index(job: Job, table: str) -> list[str]:
    if job.dimension > _HALF_DIMENSIONS:
        return []
    vector, kind = _name(VECTOR), "vector"
    if job.dimension > _HNSW_DIMENSIONS:
        vector, kind = f"({vector}::halfvec({job.dimension}))", "halfvec"
    name = _name(f"{job.name[:40]}_nearest")
    return [f"CREATE INDEX IF NOT EXISTS {name} ON {table} USING hnsw ({vector} {kind}_cosine_ops);"]


def _type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"{_type(kind.value_type)}[]"
    if pa.types.is_integer(kind):
        return {8: "smallint", 16: "smallint", 32: "integer"}.get(kind.bit_width, "bigint")
    if pa.types.is_floating(kind):
        return "real"
    if pa.types.is_date(kind):
        return "date"
    return "bytea" if pa.types.is_binary(kind) else "text"


def _name(name: str) -> str:
    return f'"{name}"'


def _check(folder: Folder) -> Iterator[Fault]:
    yield from folder.strangers(
        r"[^/]+\.sql|(upserts|deletes)/[^/]+\.csv", "*.sql, upserts/*.csv and deletes/*.csv are known"
    )
    known, gone = Known(), Known()
    for name in folder.names("upserts/"):
        yield from _check_csv(folder, name, _row_faults(known))
    for name in folder.names("deletes/"):
        yield from _check_csv(folder, name, lambda row: _id_faults(row[0], gone))


def _check_csv(folder: Folder, name: str, faults_of: Any) -> Iterator[Fault]:
    data = folder.store.read(name)
    if b"\0" in data:
        yield Fault(name, "nul_character", "there is a NUL, which no text of PostgreSQL holds")
        return
    # The module's own limit, of 128 KiB, is none of PostgreSQL's.
    csv.field_size_limit(_FIELD_BYTES)
    try:
        rows = list(csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        yield Fault(name, "csv", f"is no CSV in UTF-8: {error}")
        return
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            yield Fault(name, "columns", f"row {number:,} has {len(row)} columns, the first {len(rows[0])}")
        for rule, detail in faults_of(row or [""]):
            yield Fault(name, rule, f"row {number:,}: {detail}")


def _row_faults(known: Known) -> Any:
    def faults(row: list[str]) -> Iterator[Broken]:
        yield from _id_faults(row[0], known)
        vector = json_value(row[1]) if len(row) > 1 and re.match(r"\[", row[1]) else NotJson("")
        yield from known.vector_faults(vector, _DIMENSIONS)
        # Columns have no names here. Nothing else that could be the third has this form.
        found = _SPARSE_TEXT.fullmatch(row[2]) if len(row) > 2 else None
        if found is not None and found[1]:
            yield from _sparse_faults(found[1], int(found[2]))

    return faults


def _sparse_faults(pairs: str, dimensions: int) -> Iterator[Broken]:
    """Of a sparsevec's pairs, whose places begin with 1."""
    found = [pair.partition(":") for pair in pairs.split(",")]
    values = json_value(f"[{','.join(value for _, _, value in found)}]")
    if isinstance(values, NotJson) or not all(place.isdecimal() for place, _, _ in found):
        yield "sparse", f"the sparse vector {shown(pairs)} is no list of places with their values"
        return
    within = replace(_SPARSE, largest=min(dimensions, SPARSE_DIMENSIONS))
    places = [int(place) for place, _, _ in found]
    if places[0] == 0:
        yield "sparse", "places of a sparse vector begin with 1"
    yield from sparse_faults(places, values, within)


def _id_faults(value: str, known: Known) -> Iterator[Broken]:
    yield from known.id_faults(value, ".+", "a text")
    if len(value.encode()) > _ID_BYTES:
        yield "id", f"the id has more than {_ID_BYTES:,} bytes, more than an index takes"


PROFILE = Profile(
    name="pgcopy",
    title="PostgreSQL with pgvector, AlloyDB, Cloud SQL",
    sources=(
        "https://www.postgresql.org/docs/current/sql-copy.html",
        "https://www.postgresql.org/docs/current/limits.html",
        "https://github.com/pgvector/pgvector",
        "https://cloud.google.com/sql/docs/postgres/import-export/import-export-csv",
    ),
    folder="",
    columns=SQL_COLUMNS,
    most_dimensions=_DIMENSIONS,
    form=Rows(_rules, _upserts, _deletes, _beside),
    load="In the folder: psql -f load.sql DATABASE.",
    check=_check,
    sparse=_SPARSE,
    name_pattern="[A-Za-z_][A-Za-z0-9_]{0,53}",
)

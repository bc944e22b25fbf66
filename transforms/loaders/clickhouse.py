"""Load into ClickHouse: a server over its HTTP interface, or chDB, the same engine in this process.

A collection is a ``ReplacingMergeTree`` ordered by id, the vector an ``Array(Float32)``, a sparse one two arrays;
readers say ``FINAL``, or read the view of a switch, which does. All rows go into a new table that changes places with
the old one; changes are inserted, and what is gone is deleted. The table's comment has dimension and metric.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from transforms.loaders.protocol import Existing, Limits
from transforms.loaders.sql import STATE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from transforms.loaders.address import Address
    from transforms.loaders.protocol import Metric, Names, Target

_TYPES = {
    pa.string(): "String", pa.int8(): "Int8", pa.int32(): "Int32", pa.int64(): "Int64", pa.uint32(): "UInt32",
    pa.float32(): "Float32", pa.date32(): "Date32", pa.binary(): "String",
}  # fmt: skip
_DISTANCES: dict[Metric, str] = {"cosine": "cosineDistance", "l2": "L2Distance", "dot": "dotProduct"}
_DELETES_AT_ONCE = 2000
"""Ids of one statement, which may have 256 KiB."""


class Engine(Protocol):
    """Where statements run."""

    errors: tuple[type[Exception], ...]
    names: Names | None
    """Which tables it can have."""

    def run(self, statement: str) -> None:
        """A statement without rows."""

    def values(self, query: str) -> list[str]:
        """The only column of a query, as texts."""

    def insert(self, statement: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
        """``INSERT INTO ... (...)`` of these rows, streamed."""

    def close(self) -> None:
        """Give it back."""


def connect(address: Address) -> ClickHouse:
    """The database of ``clickhouse://USER@HOST:PORT/DATABASE``, or of ``chdb:FOLDER``.

    Raises:
        ConfigError: the folder that it is to be in is not there, or the address is none of a server.
    """
    if address.scheme != "chdb":
        from transforms.loaders.clickhouse_http import HttpEngine

        return ClickHouse(HttpEngine(address))
    from transforms.loaders.chdb import ChdbEngine

    return ClickHouse(ChdbEngine(address.local_path()))


class ClickHouse:
    """One database."""

    name = "ClickHouse"

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.limits = Limits(
            names=engine.names,
            batch_rows=32_768,
            aliases=True,
            sparse=True,
            full_text="index",
            atomic=True,
        )

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        return self._engine.errors

    def close(self) -> None:
        self._engine.close()

    def resolve(self, name: str) -> str:
        comment = self._table(name, "engine = 'View'")
        return comment or name

    def describe(self, collection: str) -> Existing | None:
        comment = self._table(collection, "engine != 'View'")
        if comment is None:
            return None
        try:
            facts = json.loads(comment)
            return Existing(int(facts["dimension"]), facts["metric"])
        except (ValueError, KeyError, TypeError):
            return Existing(None, None)

    def state(self, collection: str) -> str | None:
        if self._table(STATE, "1") is None:
            return None
        where = f"WHERE collection = {_text(collection)}"
        found = self._engine.values(f"SELECT state FROM {STATE} FINAL {where}")
        return found[0] if found else None

    def set_state(self, collection: str, state: str) -> None:
        self._engine.run(
            f"CREATE TABLE IF NOT EXISTS {STATE} (collection String, state String) "
            "ENGINE = ReplacingMergeTree ORDER BY collection"
        )
        self._engine.run(f"INSERT INTO {STATE} VALUES ({_text(collection)}, {_text(state)})")

    def drop(self, collection: str) -> None:
        self._engine.run(f"DROP TABLE IF EXISTS {_name(collection)} SYNC")

    def replace(self, target: Target, batches: Iterator[pa.RecordBatch]) -> None:
        new = f"{target.collection}__parquetry_new"
        self.drop(new)
        self._engine.run(_definition(target, new))
        self._insert(target, new, batches)
        if self._table(target.collection, "1") is None:
            self._engine.run(f"RENAME TABLE {_name(new)} TO {_name(target.collection)}")
        else:
            self._engine.run(f"EXCHANGE TABLES {_name(new)} AND {_name(target.collection)}")
            self.drop(new)

    def upsert(self, target: Target, batch: pa.RecordBatch) -> None:
        self._insert(target, target.collection, [batch])

    def delete(self, target: Target, ids: pa.Array) -> None:
        table, key = _name(target.collection), _name(target.id)
        for first in range(0, len(ids), _DELETES_AT_ONCE):
            some = ", ".join(map(_text, ids.slice(first, _DELETES_AT_ONCE).to_pylist()))
            self._engine.run(f"DELETE FROM {table} WHERE {key} IN ({some})")

    def finish(self, target: Target) -> None:
        """Inserts and deletions are durable and visible when they return, and indexes belong to the parts."""

    def count(self, collection: str) -> int:
        # A table that no load has made may know no FINAL.
        ours = self._table(collection, "engine LIKE '%ReplacingMergeTree'") is not None
        final = " FINAL" if ours else ""
        return int(self._engine.values(f"SELECT toString(count()) FROM {_name(collection)}{final}")[0])

    def held(self, target: Target, ids: Sequence[str]) -> set[str]:
        key = _name(target.id)
        some = ", ".join(map(_text, ids))
        return set(
            self._engine.values(
                f"SELECT {key} FROM {_name(target.collection)} FINAL WHERE {key} IN ({some})"
            )
        )

    def switch(self, alias: str, collection: str) -> None:
        self._engine.run(
            f"CREATE OR REPLACE VIEW {_name(alias)} AS SELECT * FROM {_name(collection)} FINAL "
            f"COMMENT {_text(collection)}"
        )

    def _insert(self, target: Target, table: str, batches: Iterable[pa.RecordBatch]) -> None:
        schema = pa.schema([_listed(field) for field in target.schema])
        names = ", ".join(map(_name, schema.names))
        rows = (_lists(batch, schema) for batch in batches)
        self._engine.insert(f"INSERT INTO {_name(table)} ({names})", schema, rows)

    def _table(self, name: str, condition: str) -> str | None:
        """The comment of a table or view; None where there is none such."""
        found = self._engine.values(
            f"SELECT comment FROM system.tables WHERE database = currentDatabase() AND name = {_text(name)} "
            f"AND {condition}"
        )
        return found[0] if found else None


def _definition(target: Target, table: str) -> str:
    vector = _name(target.vector)
    columns = [f"{_name(target.id)} String", f"{vector} Array(Float32)"]
    columns += [f"{_name(field.name)} {_column_type(field.kind)}" for field in target.fields]
    columns += [
        f"{_name(name)} {_column_type(target.schema.field(name).type)}" for name in target.sparse_columns
    ]
    if target.full_text is not None:
        words = _name(target.full_text)
        how = f"tokenizer = 'splitByNonAlpha', preprocessor = lower({words})"
        columns.append(f"INDEX {words} {words} TYPE text({how})")
    if target.index.kind == "hnsw":
        how = f"'hnsw', '{_DISTANCES[target.metric]}', {target.dimension}, 'bf16', {target.index.m}"
        columns.append(
            f"INDEX {vector} {vector} TYPE vector_similarity({how}, {target.index.ef_construction})"
        )
    facts = json.dumps({"dimension": target.dimension, "metric": target.metric, "model": target.model})
    return (
        f"CREATE TABLE {_name(table)} ({', '.join(columns)}) "
        f"ENGINE = ReplacingMergeTree ORDER BY {_name(target.id)} COMMENT {_text(facts)}"
    )


def _column_type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"Array({_TYPES[kind.value_type]})"
    return f"Nullable({_TYPES[kind]})"


def _listed(field: pa.Field) -> pa.Field:
    """A vector as a list of any length, which every version reads."""
    kind = field.type
    return field.with_type(pa.list_(kind.value_field)) if pa.types.is_fixed_size_list(kind) else field


def _lists(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [column.cast(kind) for column, kind in zip(batch.columns, schema.types, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _name(name: str) -> str:
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("\0", "\\0") + "'"

"""Load into SQLite with sqlite-vec: a plain table of the rows, and ``COLLECTION_vectors`` with the vector of each.

Both have the same row numbers, so that rows can be filtered by any column before vectors are compared. An index of
words is ``COLLECTION_words``, with those numbers too, which triggers of the plain table keep in step. Lists are JSON
texts, dates ISO 8601. All rows, and each batch of changes, are one transaction.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import sqlite_vec

from transforms.loaders.protocol import Existing, Limits
from transforms.loaders.sql import STATE, quoted
from transforms.model.errors import ConfigError

try:
    # Some builds of Python cannot load extensions; where this package is, its SQLite can.
    import pysqlite3 as sqlite3
except ModuleNotFoundError:
    import sqlite3

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from transforms.loaders.address import Address
    from transforms.loaders.protocol import Metric, Target

_METRICS: dict[Metric, str] = {"cosine": "cosine", "l2": "l2"}
_ROW = "rowid"
"""The row numbers, which a ``VACUUM`` leaves alone because they are a column."""
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_VECTORS = re.compile(r"float\[(\d+)\] distance_metric=(\w+)")


def connect(address: Address) -> SqliteVec:
    """The database of ``sqlite:FILE``, made where there is none.

    Raises:
        ConfigError: its folder is not there, or this Python's SQLite loads no extensions.
    """
    connection = sqlite3.connect(str(address.local_path()), isolation_level=None)
    if not hasattr(connection, "enable_load_extension"):
        connection.close()
        raise ConfigError("This Python's SQLite loads no extensions; install the package pysqlite3-binary.")
    connection.enable_load_extension(True)  # noqa: FBT003 - its only parameter
    sqlite_vec.load(connection)
    connection.enable_load_extension(False)  # noqa: FBT003 - as above
    connection.execute(
        f"CREATE TABLE IF NOT EXISTS {STATE} (collection TEXT PRIMARY KEY, state TEXT NOT NULL)"
    )
    return SqliteVec(connection)


class SqliteVec:
    """One database file."""

    name = "sqlite-vec"
    limits = Limits(
        metrics=frozenset(_METRICS),
        dimensions=8192,
        nul=False,
        batch_rows=4096,
        full_text="index",
        atomic=True,
    )
    errors = (sqlite3.Error,)

    def __init__(self, connection: Any) -> None:
        self._db = connection

    def close(self) -> None:
        self._db.close()

    def resolve(self, name: str) -> str:
        return name

    def describe(self, collection: str) -> Existing | None:
        # Either of the two tables alone is somebody else's, and a load in full would drop it.
        rows, vectors = self._made_by(collection), self._made_by(_vectors(collection))
        if rows is None and vectors is None:
            return None
        found = _VECTORS.search(vectors or "")
        if found is None:
            return Existing(None, None)
        metric = next((metric for metric, name in _METRICS.items() if name == found[2]), None)
        return Existing(int(found[1]), metric)

    def state(self, collection: str) -> str | None:
        found = self._db.execute(f"SELECT state FROM {STATE} WHERE collection = ?", [collection]).fetchone()
        return None if found is None else str(found[0])

    def set_state(self, collection: str, state: str) -> None:
        self._db.execute(f"INSERT OR REPLACE INTO {STATE} VALUES (?, ?)", [collection, state])

    def drop(self, collection: str) -> None:
        words = _words(collection)
        ours = [words] if _index_of(collection) in (self._made_by(words) or "") else []
        for name in (*ours, _vectors(collection), collection):
            self._db.execute(f"DROP TABLE IF EXISTS {quoted(name)}")

    def replace(self, target: Target, batches: Iterator[pa.RecordBatch]) -> None:
        if not _WORD.fullmatch(target.vector):
            raise ConfigError(
                f"sqlite-vec takes no column of vectors called {target.vector!r}: use letters and _."
            )
        with self._transaction():
            self.drop(target.collection)
            columns = [f"{quoted(field.name)} {_column_type(field.kind)}" for field in target.fields]
            names = ", ".join(
                [f"{_ROW} INTEGER PRIMARY KEY", f"{quoted(target.id)} TEXT NOT NULL UNIQUE", *columns]
            )
            self._db.execute(f"CREATE TABLE {quoted(target.collection)} ({names})")
            self._db.execute(
                f"CREATE VIRTUAL TABLE {quoted(_vectors(target.collection))} USING "
                f"vec0({target.vector} float[{target.dimension}] distance_metric={_METRICS[target.metric]})"
            )
            for batch in batches:
                self._insert(target, batch)
            if target.full_text is not None:
                for statement in _index_words(target.collection, target.full_text):
                    self._db.execute(statement)

    def upsert(self, target: Target, batch: pa.RecordBatch) -> None:
        with self._transaction():
            # Tables of vectors know no INSERT OR REPLACE.
            self._delete(target, batch.column(0).to_pylist())
            self._insert(target, batch)

    def delete(self, target: Target, ids: pa.Array) -> None:
        with self._transaction():
            self._delete(target, ids.to_pylist())

    def finish(self, target: Target) -> None:
        """There is no index, and commits are durable."""

    def count(self, collection: str) -> int:
        """Rows that have a vector: none where one of the tables is missing."""
        names = (collection, _vectors(collection))
        if any(self._made_by(name) is None for name in names):
            return 0
        rows, vectors = (
            int(self._db.execute(f"SELECT count(*) FROM {quoted(name)}").fetchone()[0]) for name in names
        )
        if rows != vectors:
            raise sqlite3.DatabaseError(f"{collection} has {rows:,} rows and {vectors:,} vectors")
        return rows

    def held(self, target: Target, ids: Sequence[str]) -> set[str]:
        key = quoted(target.id)
        found = self._db.execute(
            f"SELECT {key} FROM {quoted(target.collection)} WHERE {key} IN (SELECT value FROM json_each(?))",
            [json.dumps(list(ids))],
        )
        return {row[0] for row in found}

    def switch(self, alias: str, collection: str) -> None:
        raise NotImplementedError

    def _insert(self, target: Target, batch: pa.RecordBatch) -> None:
        table = quoted(target.collection)
        first = self._db.execute(f"SELECT coalesce(max({_ROW}), 0) + 1 FROM {table}").fetchone()[0]
        numbers = range(first, first + batch.num_rows)
        columns = [numbers, *(_values(batch.column(at)) for at in range(batch.num_columns) if at != 1)]
        marks = ", ".join("?" * len(columns))
        self._db.executemany(f"INSERT INTO {table} VALUES ({marks})", zip(*columns, strict=True))
        data = memoryview(batch.column(1).flatten().to_numpy(zero_copy_only=True)).cast("B")
        size = 4 * target.dimension
        vectors = (data[at : at + size] for at in range(0, len(data), size))
        self._db.executemany(
            f"INSERT INTO {quoted(_vectors(target.collection))} (rowid, {target.vector}) VALUES (?, ?)",
            zip(numbers, vectors, strict=True),
        )

    def _delete(self, target: Target, ids: Sequence[str]) -> None:
        table = quoted(target.collection)
        found = self._db.execute(
            f"SELECT {_ROW} FROM {table} WHERE {quoted(target.id)} IN (SELECT value FROM json_each(?))",
            [json.dumps(ids)],
        ).fetchall()
        for name in (quoted(_vectors(target.collection)), table):
            self._db.executemany(f"DELETE FROM {name} WHERE rowid = ?", found)

    def _made_by(self, name: str) -> str | None:
        found = self._db.execute(
            "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", [name]
        ).fetchone()
        return None if found is None else str(found[0])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")


def _vectors(collection: str) -> str:
    return f"{collection}_vectors"


def _words(collection: str) -> str:
    return f"{collection}_words"


def _index_of(collection: str) -> str:
    """The part of its definition that says whose words an index has."""
    return f"content={quoted(collection)}"


def _index_words(collection: str, field: str) -> Iterator[str]:
    """Statements that index the rows that are there, and each that comes or goes."""
    table, words, column = quoted(collection), quoted(_words(collection)), quoted(field)
    yield (
        f"CREATE VIRTUAL TABLE {words} USING fts5({column}, {_index_of(collection)}, content_rowid={_ROW}, "
        "tokenize='unicode61 remove_diacritics 2')"
    )
    yield f"INSERT INTO {words} ({words}) VALUES ('rebuild')"
    comes = f"INSERT INTO {words} (rowid, {column}) VALUES (new.{_ROW}, new.{column});"
    goes = f"INSERT INTO {words} ({words}, rowid, {column}) VALUES ('delete', old.{_ROW}, old.{column});"
    for event, does in (("INSERT", comes), ("DELETE", goes), ("UPDATE", f"{goes} {comes}")):
        name = quoted(f"{_words(collection)}_{event.lower()}")
        yield f"CREATE TRIGGER {name} AFTER {event} ON {table} BEGIN {does} END"


def _column_type(kind: pa.DataType) -> str:
    if pa.types.is_integer(kind):
        return "INTEGER"
    if pa.types.is_floating(kind):
        return "REAL"
    return "BLOB" if pa.types.is_binary(kind) else "TEXT"


def _values(column: pa.Array) -> list[Any]:
    if pa.types.is_list(column.type):
        return [
            None if value is None else json.dumps(value, ensure_ascii=False) for value in column.to_pylist()
        ]
    if pa.types.is_date(column.type):
        return [None if value is None else value.isoformat() for value in column.to_pylist()]
    values: list[Any] = column.to_pylist()
    return values

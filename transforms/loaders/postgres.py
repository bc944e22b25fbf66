"""Load into PostgreSQL with pgvector: a table with the vector as ``vector(dimension)``, a sparse one as ``sparsevec``.

All rows by binary COPY: into a new table, which gets its primary key afterwards, and then the place and the views of
the one that was there; or, if that has the same columns, into a temporary one that is merged into it, so that its
grants and indexes stay too. Changes go the second way. Each is one transaction. With ``hnsw`` vectors of more than
2,000 numbers, which pgvector does not index, are ``halfvec``.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import psycopg

from transforms.loaders.pgcopy import HEADER, SPARSE_DIMENSIONS, TRAILER, column_type, encoded
from transforms.loaders.protocol import Existing, Limits
from transforms.loaders.sql import STATE, quoted, text
from transforms.loaders.stream import ahead
from transforms.model.ids import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from transforms.loaders.address import Address
    from transforms.loaders.protocol import Metric, Target

_STAGING = "parquetry_staging"
_MOST_INDEXED = 2000
"""Numbers of a ``vector`` under HNSW; of a ``halfvec`` twice as many."""
_OPERATORS: dict[Metric, str] = {"cosine": "cosine_ops", "dot": "ip_ops", "l2": "l2_ops"}


def connect(address: Address) -> Postgres:
    """The database of ``postgresql://USER:PASSWORD@HOST:PORT/DATABASE``, with all that libpq allows there."""
    return Postgres(psycopg.connect(f"postgresql:{address.rest}", autocommit=True))


class Postgres:
    """One connection; tables are looked for and made by its search path."""

    name = "PostgreSQL"
    limits = Limits(
        dimensions=16_000,
        indexed=2 * _MOST_INDEXED,
        nul=False,
        batch_rows=4096,
        aliases=True,
        sparse=True,
        sparse_entries=16_000,
        full_text="index",
        atomic=True,
    )
    errors = (psycopg.Error,)

    def __init__(self, connection: psycopg.Connection) -> None:
        self._db = connection
        # Names of tables that stay the same would be said to exist already, each time.
        self._db.execute("SET client_min_messages = warning")

    def close(self) -> None:
        self._db.close()

    def resolve(self, name: str) -> str:
        found = self._one(
            "SELECT obj_description(oid, 'pg_class') FROM pg_class WHERE oid = to_regclass(%s) AND relkind = 'v'",
            quoted(name),
        )
        return str(found) if found else name

    def describe(self, collection: str) -> Existing | None:
        if self._one("SELECT to_regclass(%s)::text", quoted(collection)) is None:
            return None
        kinds = [kind for _, kind in self._columns(collection) if kind.startswith(("vector(", "halfvec("))]
        dimension = int(kinds[0].split("(")[1][:-1]) if len(kinds) == 1 else None
        return Existing(dimension, self._metric(collection))

    def state(self, collection: str) -> str | None:
        if self._one("SELECT to_regclass(%s)::text", STATE) is None:
            return None
        found = self._one(f"SELECT state FROM {STATE} WHERE collection = %s", collection)
        return None if found is None else str(found)

    def set_state(self, collection: str, state: str) -> None:
        self._db.execute(
            f"CREATE TABLE IF NOT EXISTS {STATE} (collection text PRIMARY KEY, state text NOT NULL)"
        )
        self._db.execute(
            f"INSERT INTO {STATE} VALUES (%s, %s) ON CONFLICT (collection) DO UPDATE SET state = excluded.state",
            [collection, state],
        )

    def drop(self, collection: str) -> None:
        self._db.execute(f"DROP TABLE IF EXISTS {quoted(collection)}")

    def replace(self, target: Target, batches: Iterator[pa.RecordBatch]) -> None:
        table, key = quoted(target.collection), quoted(target.id)
        with self._db.transaction():
            if self._columns(target.collection) == _wanted(target):
                self._stage(target, batches)
                self._db.execute(f"ANALYZE {_STAGING}")
                self._db.execute(f"DELETE FROM {table} WHERE {key} NOT IN (SELECT {key} FROM {_STAGING})")
                self._merge(target)
            else:
                self._make_anew(target, batches)

    def upsert(self, target: Target, batch: pa.RecordBatch) -> None:
        with self._db.transaction():
            self._stage(target, [batch])
            self._merge(target)

    def delete(self, target: Target, ids: pa.Array) -> None:
        self._db.execute(
            f"DELETE FROM {_doubled(target.collection)} WHERE {_doubled(target.id)} = ANY(%s)",
            [ids.to_pylist()],
        )

    def finish(self, target: Target) -> None:
        table, index = target.collection, target.index
        if target.full_text is not None and not self._has_words(table):
            self._db.execute(
                f"CREATE INDEX ON {quoted(table)} USING gin (to_tsvector('simple', {quoted(target.full_text)}))"
            )
        if index.kind == "hnsw" and self._metric(table) is None:
            operators = f"{_vector_type(target)}_{_OPERATORS[target.metric]}"
            self._db.execute(
                f"CREATE INDEX ON {quoted(table)} USING hnsw ({quoted(target.vector)} {operators}) "
                f"WITH (m = {index.m}, ef_construction = {index.ef_construction})"
            )

    def count(self, collection: str) -> int:
        return int(str(self._one(f"SELECT count(*) FROM {quoted(collection)}")))

    def held(self, target: Target, ids: Sequence[str]) -> set[str]:
        key = _doubled(target.id)
        found = self._db.execute(
            f"SELECT {key} FROM {_doubled(target.collection)} WHERE {key} = ANY(%s)", [list(ids)]
        )
        return {row[0] for row in found}

    def switch(self, alias: str, collection: str) -> None:
        view = quoted(alias)
        with self._db.transaction():
            # A view that is replaced must keep its columns; one that is dropped need not.
            self._db.execute(f"DROP VIEW IF EXISTS {view}")
            self._db.execute(f"CREATE VIEW {view} AS SELECT * FROM {quoted(collection)}")
            # What the view stands for, to be found again without reading SQL.
            self._db.execute(f"COMMENT ON VIEW {view} IS {text(collection)}")

    def _make_anew(self, target: Target, batches: Iterable[pa.RecordBatch]) -> None:
        """Fill a new table, which nobody sees, and let it take the place of the one that is there."""
        # A name of its own, short enough for any collection's: loads of several do not wait for each other.
        new = f"parquetry_new_{fingerprint(target.collection)}"
        self._db.execute("CREATE EXTENSION IF NOT EXISTS vector")
        self._db.execute(f"CREATE TABLE {new} ({_definition(target)})")
        self._copy(new, target, batches)
        self._db.execute(f"ALTER TABLE {new} ADD PRIMARY KEY ({quoted(target.id)})")
        views = self._views(target.collection)
        for view in views:
            self._db.execute(f"DROP VIEW {quoted(view)}")
        self.drop(target.collection)
        self._db.execute(f"ALTER TABLE {new} RENAME TO {quoted(target.collection)}")
        for view in views:
            self.switch(view, target.collection)

    def _stage(self, target: Target, batches: Iterable[pa.RecordBatch]) -> None:
        """Rows into a temporary table that is gone at the end of the transaction."""
        like = f"(LIKE {quoted(target.collection)}) ON COMMIT DROP"
        self._db.execute(f"CREATE TEMPORARY TABLE {_STAGING} {like}")
        self._copy(_STAGING, target, batches)

    def _merge(self, target: Target) -> None:
        names = [quoted(name) for name, _ in _wanted(target)]
        values = ", ".join(f"{name} = excluded.{name}" for name in names[1:])
        old = ", ".join(f"old.{name}" for name in names)
        new = ", ".join(f"excluded.{name}" for name in names)
        # Rows that are as they should be are not written again.
        self._db.execute(
            f"INSERT INTO {quoted(target.collection)} AS old SELECT * FROM {_STAGING} ON CONFLICT ({names[0]}) "
            f"DO UPDATE SET {values} WHERE ({old}) IS DISTINCT FROM ({new})"
        )

    def _copy(self, table: str, target: Target, batches: Iterable[pa.RecordBatch]) -> None:
        names = ", ".join(quoted(name) for name, _ in _wanted(target))
        half, sparse = _vector_type(target) == "halfvec", target.sparse is not None
        rows = (encoded(batch, half=half, sparse=sparse) for batch in batches)
        parts = chain([HEADER], ahead(rows), [TRAILER])
        with self._db.cursor().copy(f"COPY {table} ({names}) FROM STDIN (FORMAT binary)") as copy:
            for part in parts:
                copy.write(part)

    def _columns(self, collection: str) -> list[tuple[str, str]]:
        found = self._db.execute(
            "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute "
            "WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
            [quoted(collection)],
        )
        return [(str(name), str(kind)) for name, kind in found]

    def _metric(self, collection: str) -> Metric | None:
        """Of the index of vectors; None where there is none."""
        names = self._db.execute(
            "SELECT opcname FROM pg_index JOIN pg_opclass ON pg_opclass.oid = ANY(indclass::oid[]) "
            "WHERE indrelid = to_regclass(%s)",
            [quoted(collection)],
        )
        metrics = {
            f"{kind}_{end}": metric for kind in ("vector", "halfvec") for metric, end in _OPERATORS.items()
        }
        return next((metrics[name] for (name,) in names if name in metrics), None)

    def _views(self, collection: str) -> list[str]:
        """The views that ``switch`` has made stand for a collection."""
        found = self._db.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'v' AND pg_table_is_visible(oid) "
            "AND obj_description(oid, 'pg_class') = %s",
            [collection],
        )
        return [str(name) for (name,) in found]

    def _has_words(self, collection: str) -> bool:
        """Whether there is an index of words."""
        found = self._one(
            "SELECT count(*) FROM pg_index WHERE indrelid = to_regclass(%s) "
            "AND pg_get_expr(indexprs, indrelid) LIKE 'to_tsvector(%%'",
            quoted(collection),
        )
        return found != 0

    def _one(self, statement: str, *values: str) -> object:
        # Without values a % in a name is one, with them it would be the mark of a place.
        row = self._db.execute(statement, values or None).fetchone()
        return None if row is None else row[0]


def _doubled(name: str) -> str:
    """A quoted name for a statement with values, in which psycopg reads %% as %."""
    return quoted(name).replace("%", "%%")


def _vector_type(target: Target) -> str:
    large = target.index.kind == "hnsw" and target.dimension > _MOST_INDEXED
    return "halfvec" if large else "vector"


def _wanted(target: Target) -> list[tuple[str, str]]:
    """Names and types of the columns, as PostgreSQL writes them."""
    vector = f"{_vector_type(target)}({target.dimension})"
    fields = [(field.name, column_type(field.kind)) for field in target.fields]
    sparse = [] if target.sparse is None else [(target.sparse, f"sparsevec({SPARSE_DIMENSIONS})")]
    return [(target.id, "text"), (target.vector, vector), *fields, *sparse]


def _definition(target: Target) -> str:
    columns = [f"{quoted(name)} {kind}" for name, kind in _wanted(target)]
    return ", ".join([f"{columns[0]} NOT NULL", f"{columns[1]} NOT NULL", *columns[2:]])

"""Load into DuckDB: a plain table with the vector as ``FLOAT[dimension]``, scanned without an index.

A sparse vector is two columns of lists. All rows in one ``CREATE OR REPLACE TABLE ... AS`` over the Arrow batches;
changes by ``MERGE INTO``. Both are transactions, so that readers see all or nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from transforms.loaders.protocol import Existing, Limits
from transforms.loaders.sql import STATE, quoted, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from transforms.loaders.address import Address
    from transforms.loaders.protocol import Target


def connect(address: Address) -> DuckDb:
    """The database of ``duckdb:FILE``, made where there is none.

    Raises:
        ConfigError: its folder is not there.
    """
    return DuckDb(duckdb.connect(str(address.local_path())))


class DuckDb:
    """One database file; no other process has it open meanwhile, which DuckDB itself sees to."""

    name = "DuckDB"
    limits = Limits(batch_rows=32_768, aliases=True, sparse=True, atomic=True)
    errors = (duckdb.Error,)

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._db = connection
        self._db.execute(
            f"CREATE TABLE IF NOT EXISTS {STATE} (collection VARCHAR PRIMARY KEY, state VARCHAR)"
        )

    def close(self) -> None:
        self._db.close()

    def resolve(self, name: str) -> str:
        found = self._db.execute(
            "SELECT comment FROM duckdb_views() WHERE schema_name = current_schema() AND view_name = ?",
            [name],
        ).fetchone()
        return found[0] if found and found[0] else name

    def describe(self, collection: str) -> Existing | None:
        columns = self._db.execute(
            "SELECT data_type FROM duckdb_columns() WHERE schema_name = current_schema() AND table_name = ?",
            [collection],
        ).fetchall()
        if not columns:
            return None
        sizes = [kind[len("FLOAT[") : -1] for (kind,) in columns if kind.startswith("FLOAT[")]
        sized = [int(size) for size in sizes if size]
        return Existing(sized[0] if len(sized) == 1 else None, None)

    def state(self, collection: str) -> str | None:
        found = self._db.execute(f"SELECT state FROM {STATE} WHERE collection = ?", [collection]).fetchone()
        return None if found is None else str(found[0])

    def set_state(self, collection: str, state: str) -> None:
        self._db.execute(f"INSERT OR REPLACE INTO {STATE} VALUES (?, ?)", [collection, state])

    def drop(self, collection: str) -> None:
        self._db.execute(f"DROP TABLE IF EXISTS {quoted(collection)}")

    def replace(self, target: Target, batches: Iterator[pa.RecordBatch]) -> None:
        rows = pa.RecordBatchReader.from_batches(target.schema, batches)
        self._run(f"CREATE OR REPLACE TABLE {quoted(target.collection)} AS SELECT * FROM rows", rows)

    def upsert(self, target: Target, batch: pa.RecordBatch) -> None:
        key = quoted(target.id)
        self._run(
            f"MERGE INTO {quoted(target.collection)} AS old USING rows AS new ON old.{key} = new.{key} "
            "WHEN MATCHED THEN UPDATE WHEN NOT MATCHED THEN INSERT",
            pa.RecordBatchReader.from_batches(target.schema, [batch]),
        )

    def delete(self, target: Target, ids: pa.Array) -> None:
        self._run(
            f"DELETE FROM {quoted(target.collection)} WHERE {quoted(target.id)} IN (SELECT id FROM rows)",
            pa.table({"id": ids}),
        )

    def finish(self, target: Target) -> None:  # noqa: ARG002 - no index to build
        self._db.execute("CHECKPOINT")

    def count(self, collection: str) -> int:
        found = self._db.execute(f"SELECT count(*) FROM {quoted(collection)}").fetchone()
        return int(found[0]) if found else 0

    def held(self, target: Target, ids: Sequence[str]) -> set[str]:
        key = quoted(target.id)
        found = self._db.execute(
            f"SELECT {key} FROM {quoted(target.collection)} WHERE {key} IN (SELECT unnest(?))", [list(ids)]
        )
        return {row[0] for row in found.fetchall()}

    def switch(self, alias: str, collection: str) -> None:
        self._db.begin()
        self._db.execute(f"CREATE OR REPLACE VIEW {quoted(alias)} AS SELECT * FROM {quoted(collection)}")
        # What the view stands for, to be found again without reading SQL.
        self._db.execute(f"COMMENT ON VIEW {quoted(alias)} IS {text(collection)}")
        self._db.commit()

    def _run(self, statement: str, rows: pa.Table | pa.RecordBatchReader) -> None:
        """A statement that reads ``rows``."""
        self._db.register("rows", rows)
        try:
            self._db.execute(statement)
        finally:
            self._db.unregister("rows")

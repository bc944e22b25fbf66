"""Load into LanceDB: one table a collection, in a folder or a bucket.

All rows in one ``create_table`` over the Arrow batches, which replaces the version that readers see at its end;
changes by ``merge_insert`` and ``delete``. Without an index vectors are scanned; ``hnsw`` is ``IVF_HNSW_FLAT``. It has
no sparse vectors and finds texts by an index of words.
"""

from __future__ import annotations

import datetime
import os
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from transforms.loaders.protocol import Existing, Limits, Names
from transforms.loaders.sql import STATE, text

# It warns of each table that it makes, and asks when it is imported.
os.environ.setdefault("LANCEDB_LOG", "error")
import lancedb
from lancedb.index import FTS, HnswFlat

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from transforms.loaders.address import Address
    from transforms.loaders.protocol import Target

_STATES = pa.schema([pa.field("collection", pa.string()), pa.field("state", pa.string())])
_NAMES = Names(
    r"(?!\.{1,2}$)[A-Za-z0-9_.-]+",
    "it has letters of English, digits, underscores, hyphens and periods alone",
)
_KEPT = datetime.timedelta(days=7)
"""For how long versions stay that readers may have open."""


def connect(address: Address) -> LanceDb:
    """The database of ``lancedb:FOLDER`` or ``lancedb:s3://BUCKET/FOLDER``, made where there is none."""
    return LanceDb(lancedb.connect(address.path))


class LanceDb:
    """One database."""

    name = "LanceDB"
    limits = Limits(names=_NAMES, batch_rows=16_384, full_text="index", atomic=True)
    errors = (RuntimeError, ValueError)

    def __init__(self, database: Any) -> None:
        self._db = database

    def close(self) -> None:
        pass

    def resolve(self, name: str) -> str:
        return name

    def describe(self, collection: str) -> Existing | None:
        table = self._table(collection)
        if table is None:
            return None
        kinds = table.schema.types
        sizes = [kind.list_size for kind in kinds if pa.types.is_fixed_size_list(kind)]
        return Existing(sizes[0] if len(sizes) == 1 else None, None)

    def state(self, collection: str) -> str | None:
        states = self._table(STATE)
        if states is None:
            return None
        found = states.search().where(f"collection = {text(collection)}").to_list()
        return str(found[0]["state"]) if found else None

    def set_state(self, collection: str, state: str) -> None:
        row = pa.table([[collection], [state]], schema=_STATES)
        states = self._db.create_table(STATE, schema=_STATES, exist_ok=True)
        states.merge_insert("collection").when_matched_update_all().when_not_matched_insert_all().execute(
            row
        )

    def _table(self, name: str) -> Any:
        """The table of that name; None where there is none."""
        try:
            return self._db.open_table(name)
        except ValueError as error:
            # The library has no kind of error for it.
            if "not found" in str(error):
                return None
            raise

    def drop(self, collection: str) -> None:
        self._db.drop_table(collection, ignore_missing=True)

    def replace(self, target: Target, batches: Iterator[pa.RecordBatch]) -> None:
        rows = pa.RecordBatchReader.from_batches(target.schema, batches)
        self._db.create_table(target.collection, rows, schema=target.schema, mode="overwrite")

    def upsert(self, target: Target, batch: pa.RecordBatch) -> None:
        merge = self._db.open_table(target.collection).merge_insert(target.id)
        merge.when_matched_update_all().when_not_matched_insert_all().execute(
            pa.Table.from_batches([batch])
        )

    def delete(self, target: Target, ids: pa.Array) -> None:
        if len(ids):
            self._db.open_table(target.collection).delete(_among(target, ids.to_pylist()))

    def finish(self, target: Target) -> None:
        table = self._db.open_table(target.collection)
        indexed = {column for index in table.list_indices() for column in index.columns}
        if target.full_text is not None and target.full_text not in indexed:
            # Words as they are: a stemmer and stop words would be those of one language.
            table.create_index(target.full_text, config=FTS(stem=False, remove_stop_words=False))
        if target.index.kind == "hnsw" and target.vector not in indexed:
            how = HnswFlat(target.metric, m=target.index.m, ef_construction=target.index.ef_construction)
            table.create_index(target.vector, config=how)
        for one in (table, self._table(STATE)):
            if one is not None:
                one.optimize(cleanup_older_than=_KEPT)

    def count(self, collection: str) -> int:
        return int(self._db.open_table(collection).count_rows())

    def held(self, target: Target, ids: Sequence[str]) -> set[str]:
        found = (
            self._db.open_table(target.collection).search().where(_among(target, ids)).select([target.id])
        )
        return set(found.limit(len(ids)).to_arrow()[target.id].to_pylist())

    def switch(self, alias: str, collection: str) -> None:
        raise NotImplementedError


def _among(target: Target, ids: Sequence[str]) -> str:
    # Back quotes keep capital letters in names of columns.
    return f"`{target.id}` IN ({', '.join(map(text, ids))})"

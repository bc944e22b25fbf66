"""Read a published snapshot, through its manifest alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from transforms.table.columns import completed
from transforms.table.damage import opened, parquet_file, read_parquet
from transforms.table.layout import (
    CHUNKS,
    DOCUMENTS,
    kind_of,
    rejected_path,
    shard_of,
    shard_path,
    slug_of,
    snapshot_dir,
)
from transforms.table.manifest import Manifest, read_manifest
from transforms.table.recognise import require_pointer
from transforms.table.schema import CHUNKS as CHUNK_COLUMNS
from transforms.table.schema import DOCUMENTS as DOCUMENT_COLUMNS
from transforms.table.schema import REJECTED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from transforms.model.shard import FileInfo
    from transforms.storage.protocol import Store

_ROWS_AT_ONCE = 4096
"""Rows of a batch: batches span row groups, and 4,096 vectors of 3,072 numbers are 48 MiB."""
SCHEMAS = {CHUNKS: CHUNK_COLUMNS, DOCUMENTS: DOCUMENT_COLUMNS}


@dataclass(frozen=True)
class Snapshot:
    """One published snapshot."""

    store: Store
    manifest: Manifest

    @classmethod
    def open(cls, store: Store, number: int) -> Snapshot:
        """The snapshot of that number.

        Raises:
            TableError: it was not published, or a newer program wrote it.
        """
        return cls(store, read_manifest(store, number))

    @classmethod
    def newest(cls, store: Store) -> Snapshot:
        """The snapshot that readers see.

        Raises:
            TableError: there is none, or what names it is damaged.
        """
        return cls.open(store, require_pointer(store).snapshot)

    def files(self, kind: str, source: str | None = None) -> Iterator[FileInfo]:
        """The files of one kind, of all sources or of one, by name."""
        for file in self.manifest.files:
            if kind_of(file.path) == kind and source in (None, file.source):
                yield file

    def shards(self, kind: str, slug: str) -> list[str]:
        """The shards of one source that have a file of this kind."""
        return [shard_of(file.path) for file in self.files(kind) if slug_of(file.path) == slug]

    def documents(
        self, columns: Sequence[str] | None = None, source: str | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Rows of the documents table, a batch at a time.

        Raises:
            TableError: a file is missing or damaged.
        """
        return self._batches(DOCUMENTS, columns, source)

    def chunks(
        self, columns: Sequence[str] | None = None, source: str | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Rows of the chunk table, a batch at a time.

        Raises:
            TableError: a file is missing or damaged.
        """
        return self._batches(CHUNKS, columns, source)

    def shard_table(
        self, kind: str, slug: str, shard: str, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """All rows of one shard; none where it has no file of this kind.

        Raises:
            TableError: the file is missing or damaged.
        """
        schema = SCHEMAS[kind]
        path = shard_path(self.manifest.snapshot, kind, slug, shard)
        if path not in self._paths:
            return _selected(schema, columns or schema.names).empty_table()
        with opened(self.store, path) as file:
            table = read_parquet(file, columns)
            return completed(table, _selected(schema, columns or schema.names))

    def rejected(self) -> pa.Table:
        """The rejected table.

        Raises:
            TableError: it is missing or damaged.
        """
        with opened(self.store, rejected_path(self.manifest.snapshot)) as file:
            return read_parquet(file).cast(REJECTED)

    @cached_property
    def _paths(self) -> frozenset[str]:
        """The files of the manifest, from the table's root: a table has as many as shards."""
        folder = snapshot_dir(self.manifest.snapshot)
        return frozenset(folder + file.path for file in self.manifest.files)

    def _batches(
        self, kind: str, columns: Sequence[str] | None, source: str | None
    ) -> Iterator[pa.RecordBatch]:
        wanted = None if columns is None else _selected(SCHEMAS[kind], columns)
        for info in self.files(kind, source):
            with opened(self.store, snapshot_dir(self.manifest.snapshot) + info.path) as file:
                parquet = parquet_file(file)
                if wanted is None:
                    yield from parquet.iter_batches(_ROWS_AT_ONCE)
                    continue
                _selected(parquet.schema_arrow, [field.name for field in wanted if not field.nullable])
                there = [name for name in wanted.names if name in parquet.schema_arrow.names]
                for batch in parquet.iter_batches(_ROWS_AT_ONCE, columns=there):
                    yield batch if len(there) == len(wanted) else _with_nulls(batch, wanted)


def _with_nulls(batch: pa.RecordBatch, wanted: pa.Schema) -> pa.RecordBatch:
    """The batch with columns that an earlier version of the program did not write."""
    there = batch.schema.names
    arrays = [
        batch[field.name] if field.name in there else pa.nulls(batch.num_rows, field.type)
        for field in wanted
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=wanted)


def _selected(schema: pa.Schema, names: Sequence[str]) -> pa.Schema:
    return pa.schema([schema.field(name) for name in names])

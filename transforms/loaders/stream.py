"""Rows of a snapshot as Arrow batches: only the columns and row groups that are asked for, one step ahead.

What is held is a row group and a batch; groups are some 16 MiB of vectors.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from transforms.table.damage import opened, parquet_file
from transforms.table.layout import CHUNKS, snapshot_dir
from transforms.table.schema import CHUNKS as COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow.parquet as pq

    from transforms.model.shard import FileInfo
    from transforms.table.reader import Snapshot

_Part = TypeVar("_Part")

_SMALL = 8
"""Tables of less than this part of a batch wait for others: joining means copying."""


def files_of(snapshot: Snapshot, sources: Sequence[str]) -> list[FileInfo]:
    """The files of chunks of some sources, or of all."""
    return [file for file in snapshot.files(CHUNKS) if not sources or file.source in sources]


def rows_of(
    snapshot: Snapshot,
    files: Iterable[FileInfo],
    columns: Sequence[str],
    changed_in: pa.Array | None = None,
    ids: pa.Array | None = None,
) -> Iterator[pa.Table]:
    """Rows of some files, a row group at a time.

    Args:
        snapshot: that has the files.
        files: of chunks, to be read in this order.
        columns: what is read; one that an earlier version of the program did not write is null.
        changed_in: numbers of snapshots: only rows that changed last in one of them, or
        ids: that have one of these ids. Both None: all rows. Groups without a hit are not read further.

    Raises:
        TableError: a file is missing or damaged.
    """
    for info in files:
        with opened(snapshot.store, snapshot_dir(snapshot.manifest.snapshot) + info.path) as file:
            parquet = parquet_file(file)
            for group in range(parquet.num_row_groups):
                if changed_in is None and ids is None:
                    yield _group(parquet, group, columns)
                else:
                    yield from _hits(parquet, group, columns, changed_in, ids)


def batched(tables: Iterable[pa.Table], rows: int) -> Iterator[pa.RecordBatch]:
    """Tables as batches of ``rows`` rows at most: large ones are cut, where they stand, and small ones joined."""
    waiting: list[pa.Table] = []
    count = 0
    for table in tables:
        waiting.append(table)
        count += table.num_rows
        if count * _SMALL >= rows:
            yield from _batches(waiting, rows)
            waiting, count = [], 0
    if count:
        yield from _batches(waiting, rows)


def ahead(parts: Iterator[_Part]) -> Iterator[_Part]:
    """The same parts; the next one is made while the last is worked on."""
    with ThreadPoolExecutor(1, thread_name_prefix="read-ahead") as pool:
        coming = pool.submit(next, parts, None)
        while (part := coming.result()) is not None:
            coming = pool.submit(next, parts, None)
            yield part


def _hits(
    parquet: pq.ParquetFile,
    group: int,
    columns: Sequence[str],
    changed_in: pa.Array | None,
    ids: pa.Array | None,
) -> Iterator[pa.Table]:
    if (ids is None or not len(ids)) and not _may_hold(parquet, group, changed_in):
        return
    keys = _group(parquet, group, ["changed_in", "chunk_id"])
    mask = pc.or_(
        pc.is_in(keys["changed_in"], value_set=_or_none(changed_in, pa.int64())),
        pc.is_in(keys["chunk_id"], value_set=_or_none(ids, pa.string())),
    )
    if pc.any(mask).as_py():
        yield _group(parquet, group, columns).filter(mask)


def _may_hold(parquet: pq.ParquetFile, group: int, numbers: pa.Array | None) -> bool:
    """Whether statistics let a row group have one of the numbers in ``changed_in``."""
    facts = parquet.metadata.row_group(group)
    place = parquet.schema_arrow.names.index("changed_in")
    # Columns of lists have one leaf each, so that leaves are counted as columns are.
    statistics = facts.column(place).statistics
    if statistics is None or not statistics.has_min_max:
        return True
    least, most = statistics.min, statistics.max
    return any(least <= number <= most for number in _or_none(numbers, pa.int64()).to_pylist())


def _or_none(values: pa.Array | None, kind: pa.DataType) -> pa.Array:
    return pa.array([], kind) if values is None else values


def _group(parquet: pq.ParquetFile, group: int, columns: Sequence[str]) -> pa.Table:
    table = parquet.read_row_group(group, list(columns))
    missing = [name for name in columns if name not in table.column_names]
    for name in missing:
        table = table.append_column(name, pa.nulls(table.num_rows, COLUMNS.field(name).type))
    return table.select(list(columns))


def _batches(tables: Sequence[pa.Table], rows: int) -> list[pa.RecordBatch]:
    if len(tables) == 1:
        whole = tables[0]
    else:
        # What is never null in one file may be null in another, of an earlier version or of another writer.
        whole = pa.concat_tables(tables, promote_options="default").combine_chunks()
    batches: list[pa.RecordBatch] = whole.to_batches(max_chunksize=rows)
    return batches

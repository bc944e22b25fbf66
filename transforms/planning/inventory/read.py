"""Read an inventory in place of a listing, some thousand rows at once, and refuse one that is old or not whole."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from transforms.model.errors import StorageError
from transforms.planning.diff import LISTING
from transforms.planning.inventory.columns import columns_of, decoded, listing_of, of_today
from transforms.planning.inventory.manifest import find_inventory
from transforms.storage.registry import open_store
from transforms.storage.roots import split_root
from transforms.table.columns import replace_column

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO, TypeAlias

    from transforms.planning.inventory.columns import Columns
    from transforms.planning.inventory.manifest import Inventory
    from transforms.planning.inventory.settings import InventoryColumns, InventorySettings
    from transforms.storage.protocol import Store

    _Rows: TypeAlias = tuple[pa.Table, Columns]

_ROWS = 50_000


def inventory_tables(root: str, settings: InventorySettings, prefix: str = "") -> Iterator[pa.Table]:
    """What the inventory says of the objects below a root, as tables of the schema of a listing.

    Args:
        root: the normal root of the source, in a bucket.
        settings: where the inventory is.
        prefix: what names below the root begin with.

    Raises:
        StorageError: the inventory is older than allowed, or not whole, or cannot be understood; nothing may be
            concluded from what was told before.
    """
    scheme = root.partition("://")[0]
    bucket, folder = split_root(root, scheme)
    inventory = find_inventory(settings.uri)
    _check_age(inventory, settings)
    if inventory.bucket not in {None, bucket}:
        raise StorageError(
            f"The inventory {inventory.uri} is of the bucket {inventory.bucket}, and not of {bucket}."
        )
    encoded = inventory.url_encoded if settings.url_encoded is None else settings.url_encoded
    records = 0
    for file in inventory.files:
        where = f"{inventory.root}/{file}"
        for rows, columns in _rows(inventory, file, settings.columns, scheme):
            records += rows.num_rows
            kept = of_today(rows, columns)
            if columns.bucket is not None:
                kept = kept.filter(pc.equal(kept[columns.bucket].cast(pa.string()), bucket))
            listed = listing_of(kept, columns, scheme, where)
            if encoded:
                listed = replace_column(listed, "object_name", _decoded(listed, where))
            yield _below(listed, folder, prefix)
    if inventory.records not in {None, records}:
        raise StorageError(
            f"The inventory {inventory.uri} is not whole: it has {records:,} rows of {inventory.records:,}."
        )
    yield LISTING.empty_table()


def _check_age(inventory: Inventory, settings: InventorySettings) -> None:
    age = datetime.datetime.now(datetime.UTC) - inventory.made
    if age > settings.oldest:
        raise StorageError(
            f"The inventory {inventory.uri} is of {inventory.made:%Y-%m-%d %H:%M} UTC, which is older than "
            f"inventory.max_age = {settings.max_age}; see why no newer one is delivered, or allow more."
        )


def _rows(inventory: Inventory, file: str, wanted: InventoryColumns, scheme: str) -> Iterator[_Rows]:
    where = f"{inventory.root}/{file}"
    store = open_store(inventory.root)
    try:
        if file.endswith(".parquet"):
            with store.open(file) as source:
                parquet = pq.ParquetFile(source)
                columns = columns_of(parquet.schema_arrow.names, wanted, scheme, where)
                for batch in parquet.iter_batches(_ROWS, columns=columns.all):
                    yield pa.Table.from_batches([batch]), columns
            return
        header = inventory.header or _header(store, file)
        columns = columns_of(header, wanted, scheme, where)
        with store.open(file) as source:
            for batch in _csv(source, file, inventory.header, columns.all):
                yield pa.Table.from_batches([batch]), columns
    except (pa.ArrowException, OSError, EOFError) as error:
        raise StorageError(f"{where} cannot be read as an inventory: {error}.") from error


def _header(store: Store, file: str) -> Sequence[str]:
    with store.open(file) as source:
        names: Sequence[str] = _csv(source, file, None, None).schema.names
    return names


def _csv(
    source: BinaryIO, file: str, header: Sequence[str] | None, columns: Sequence[str] | None
) -> pa.csv.CSVStreamingReader:
    """Everything as text: a name of digits is no number."""
    stream = pa.PythonFile(source, "r")
    if file.endswith(".gz"):
        stream = pa.CompressedInputStream(stream, "gzip")
    return pa.csv.open_csv(
        stream,
        read_options=pa.csv.ReadOptions(column_names=header, use_threads=False),
        parse_options=pa.csv.ParseOptions(newlines_in_values=True),
        convert_options=pa.csv.ConvertOptions(
            column_types=dict.fromkeys(columns or (), pa.string()), include_columns=columns
        ),
    )


def _decoded(listed: pa.Table, where: str) -> pa.ChunkedArray:
    try:
        return decoded(listed["object_name"])
    except UnicodeDecodeError as error:
        raise StorageError(
            f"{where} has a name that is not URL-encoded UTF-8; set inventory.url_encoded."
        ) from error


def _below(listed: pa.Table, folder: str, prefix: str) -> pa.Table:
    """Objects whose names begin with folder and prefix, named below the folder; no folder markers."""
    names = listed["object_name"]
    marker = pc.and_(pc.ends_with(names, "/"), pc.equal(listed["size"], 0))
    mine = pc.and_(
        pc.starts_with(names, folder + prefix), pc.invert(pc.or_(marker, pc.equal(names, folder)))
    )
    kept = listed.filter(mine)
    shorter = pc.utf8_slice_codeunits(kept["object_name"], len(folder))
    return replace_column(kept, "object_name", shorter)

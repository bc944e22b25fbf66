"""Rows to Parquet bytes, the same for the same rows.

Rows are sorted by document, so that the statistics of the row groups find one document without reading the
others. Row groups hold about 16 MiB of vectors, and stay far below the 2 GiB of text that an Arrow string
column can hold. Each page has its checksum: without it a flipped bit of a vector would be read as another
vector. The Arrow schema is not stored beside the Parquet one: readers see plain types. All columns are compressed but
those of vectors, which hold nothing to compress.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from transforms.model.ids import sha256_hex
from transforms.model.shard import FileInfo
from transforms.model.version import VERSION
from transforms.table.schema import SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from transforms.storage.protocol import Store

VECTOR_BYTES = 16 * 2**20
GROUP_BYTES = 256 * 2**20
_COMPRESSION_LEVEL = 1
"""Level 3 makes files of text and vectors a tenth smaller for more than half as much time again."""
_VECTORS = ("embedding", "embedding_int8", "embedding_bits")
"""Zstandard takes a twelfth off vectors, for a third of the time of writing them and nearly half of that of reading."""
_WITH_FEW_VALUES = [
    "source_name", "doc_id", "doc_uri", "doc_title", "doc_title_from", "doc_type", "doc_sha256",
    "section_title", "breadcrumb", "metadata", "strategy", "config_id", "counter", "cut", "embed_model",
    "status", "media_type", "language", "extract_recipe", "chunk_recipe", "embed_recipe",
    "sparse_recipe", "sparse_indices.list.element",
]  # fmt: skip
"""Columns, or what is in their lists: texts use the same words, and a place in a dictionary is shorter than an id."""


def to_parquet(table: pa.Table, metadata: Mapping[str, str]) -> bytes:
    """The table as one Parquet file with ``metadata`` in its footer."""
    # Its bytes are taken without a copy, which a buffer of Arrow's would need.
    sink = io.BytesIO()
    facts = {"parquetry.program": VERSION, "parquetry.schema_version": str(SCHEMA_VERSION)} | dict(metadata)
    plain = table.replace_schema_metadata(None)
    columns = {path: field.name for field in plain.schema for path in _paths(field.name, field.type)}
    writer = pq.ParquetWriter(
        sink,
        plain.schema,
        compression={path: "none" if name in _VECTORS else "zstd" for path, name in columns.items()},
        compression_level={p: _COMPRESSION_LEVEL for p, name in columns.items() if name not in _VECTORS},
        use_dictionary=[name for name in _WITH_FEW_VALUES if name.partition(".")[0] in table.column_names],
        write_statistics=True,
        store_schema=False,
        write_page_index=True,
        write_page_checksum=True,
    )
    with writer:
        writer.write_table(plain, row_group_size=group_rows(table))
        # Metadata of the Arrow schema would be left out together with it.
        writer.add_key_value_metadata(dict(sorted(facts.items())))
    return sink.getvalue()


def _paths(path: str, kind: pa.DataType) -> Iterator[str]:
    """The columns of a Parquet file that a column of a table becomes."""
    if pa.types.is_list(kind):
        yield from _paths(f"{path}.list.element", kind.value_type)
    elif pa.types.is_struct(kind):
        for field in kind:
            yield from _paths(f"{path}.{field.name}", field.type)
    else:
        yield path


def group_rows(table: pa.Table) -> int:
    """Rows of a row group: as many as hold 16 MiB of vectors, and 256 MiB in all."""
    rows = max(1, table.num_rows)
    limits = [rows, GROUP_BYTES * rows // max(1, table.nbytes)]
    if "embedding" in table.column_names:
        limits.append(VECTOR_BYTES * rows // max(1, table["embedding"].nbytes))
    return int(max(1, min(limits)))


def write_table(
    store: Store, path: str, table: pa.Table, source: str, metadata: Mapping[str, str]
) -> FileInfo:
    """Write one file and say what it is; ``FileInfo.path`` is relative to the snapshot's directory."""
    data = to_parquet(table, metadata)
    store.write(path, data)
    relative = path.split("/", 2)[2]
    return FileInfo(relative, source, table.num_rows, len(data), sha256_hex(data))

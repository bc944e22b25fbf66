"""Rows as Parquet: the same bytes for the same rows, bounded row groups, plain types."""

from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from transforms.model.ids import sha256_hex
from transforms.table import writer
from transforms.table.schema import CHUNKS, DOCUMENTS
from transforms.table.writer import group_rows, to_parquet, write_table


@pytest.fixture
def vectors():
    return pa.table(
        {
            "doc_id": [f"d{n:03}" for n in range(100)],
            "text": ["word " * 10] * 100,
            "embedding": pa.array([[1.0] * 64] * 100, CHUNKS.field("embedding").type),
        }
    )


def test_the_same_rows_are_the_same_bytes(vectors):
    assert to_parquet(vectors, {"b": "2", "a": "1"}) == to_parquet(vectors, {"a": "1", "b": "2"})


def test_a_file_says_what_made_it_and_nothing_of_arrow(vectors):
    file = pq.ParquetFile(pa.BufferReader(to_parquet(vectors, {"chunk": "c1"})))
    assert file.metadata.metadata[b"chunk"] == b"c1"
    assert file.metadata.metadata[b"parquetry.schema_version"] == b"1"
    assert b"ARROW:schema" not in file.metadata.metadata
    assert file.metadata.row_group(0).column(0).compression == "ZSTD"


def test_all_columns_are_compressed_but_vectors():
    kinds = {"text": pa.string(), "blocks": DOCUMENTS.field("blocks").type}
    kinds |= {name: CHUNKS.field(name).type for name in ("embedding", "embedding_int8", "embedding_bits")}
    table = pa.table({name: pa.nulls(2, kind) for name, kind in kinds.items()})
    group = pq.ParquetFile(pa.BufferReader(to_parquet(table, {}))).metadata.row_group(0)
    columns = [group.column(number) for number in range(group.num_columns)]
    assert [(one.path_in_schema, one.compression) for one in columns] == [
        ("text", "ZSTD"),
        ("blocks.list.element.kind", "ZSTD"),
        ("blocks.list.element.start", "ZSTD"),
        ("blocks.list.element.end", "ZSTD"),
        ("blocks.list.element.level", "ZSTD"),
        ("blocks.list.element.title", "ZSTD"),
        ("blocks.list.element.language", "ZSTD"),
        ("embedding.list.element", "UNCOMPRESSED"),
        ("embedding_int8.list.element", "UNCOMPRESSED"),
        ("embedding_bits", "UNCOMPRESSED"),
    ]


def test_statistics_find_a_document(vectors, monkeypatch):
    monkeypatch.setattr(writer, "VECTOR_BYTES", 64 * 4 * 25)
    file = pq.ParquetFile(pa.BufferReader(to_parquet(vectors, {})))
    groups = [file.metadata.row_group(n).column(0).statistics for n in range(file.num_row_groups)]
    assert len(groups) >= 4
    assert [group.min for group in groups] == sorted(group.min for group in groups)
    assert all(left.max < right.min for left, right in pairwise(groups))


def test_row_groups_are_bounded_by_vectors_and_by_all_bytes(vectors, monkeypatch):
    assert group_rows(vectors) == 100
    monkeypatch.setattr(writer, "GROUP_BYTES", vectors.nbytes // 10)
    assert group_rows(vectors) <= 10
    monkeypatch.setattr(writer, "GROUP_BYTES", 1)
    assert group_rows(vectors) == 1
    assert group_rows(vectors.slice(0, 0)) == 1


def test_what_was_written_is_described(store, vectors):
    info = write_table(store, "snapshots/000001/chunks/source=docs/s.parquet", vectors, "docs", {})
    data = store.read("snapshots/000001/chunks/source=docs/s.parquet")
    assert info.path == "chunks/source=docs/s.parquet"
    assert (info.rows, info.bytes, info.sha256) == (100, len(data), sha256_hex(data))
    assert pq.read_table(pa.BufferReader(data)).equals(
        pq.read_table(pa.BufferReader(to_parquet(vectors, {})))
    )

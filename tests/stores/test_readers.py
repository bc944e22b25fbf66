"""A published snapshot is plain Parquet: engines read the folder as it is, all with the same rows and values."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from chdb import query

from tests.stores.history import DIMENSION, rows
from transforms.model.ids import slug
from transforms.table.schema import CHUNKS


@pytest.fixture(scope="module")
def folder(history):
    return history / "snapshots/000002/chunks"


def by_pyarrow(folder):
    return pq.read_table(folder).to_pylist()


def by_pandas(folder):
    return pd.read_parquet(folder).to_dict("records")


def by_duckdb(folder):
    return duckdb.sql(f"SELECT * FROM read_parquet('{folder}/**/*.parquet')").to_arrow_table().to_pylist()


def by_polars(folder):
    return pl.scan_parquet(folder, hive_partitioning=True).collect().to_dicts()


def by_chdb(folder):
    found = query(f"SELECT * FROM file('{folder}/*/*.parquet', Parquet)", "ArrowTable")
    # Its Arrow has texts as bytes.
    return found.cast(pa.schema([_as_text(field) for field in found.schema])).to_pylist()


def _as_text(field):
    kind = field.type
    if pa.types.is_list(kind) and pa.types.is_binary(kind.value_type):
        return field.with_type(pa.list_(pa.string()))
    is_text = pa.types.is_binary(kind) and field.name != "embedding_bits"
    return field.with_type(pa.string()) if is_text else field


READERS = [by_pyarrow, by_pandas, by_duckdb, by_polars, by_chdb]
SLUGS = {"manual": "manual", "Notes & more": "s-notes-more-"}


@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)
def test_rows_and_values_are_the_same_whoever_reads_them(read, folder, history):
    expected = rows(history, 2)
    found = {row["chunk_id"]: row for row in read(folder)}
    assert found.keys() == expected.keys()
    for key, row in found.items():
        for name in ("text", "source_name", "doc_id", "chunk_index", "chars", "metadata", "embed_model"):
            assert row[name] == expected[key][name]
        assert list(row["section_path"]) == expected[key]["section_path"]
        assert np.array_equal(np.float32(row["embedding"]), np.float32(expected[key]["embedding"]))


@pytest.mark.parametrize(
    "read", [by_pyarrow, by_pandas, by_duckdb, by_polars], ids=lambda read: read.__name__
)
def test_the_source_in_the_path_is_a_text_beside_the_columns(read, folder):
    found = read(folder)
    assert {row["source_name"] for row in found} == set(SLUGS)
    assert all(row["source"].startswith(SLUGS[row["source_name"]]) for row in found)


@pytest.mark.parametrize(
    "name", ["true", "false", "null", "none", "nan", "inf", "infinity", "epoch", "2024", "date"]
)
@pytest.mark.parametrize(
    "read", [by_duckdb, by_polars, by_pandas, by_pyarrow], ids=lambda read: read.__name__
)
def test_no_name_of_a_source_is_read_as_a_value_of_another_kind(read, name, tmp_path):
    path = tmp_path / f"source={slug(name)}" / "a.parquet"
    path.parent.mkdir()
    pq.write_table(pa.table({"source_name": [name]}), path)
    assert read(tmp_path) == [{"source_name": name, "source": slug(name)}]


@pytest.mark.parametrize("read", [by_duckdb, by_polars, by_chdb], ids=lambda read: read.__name__)
def test_a_column_of_one_file_alone_is_missed_by_nobody(read, folder):
    assert set(CHUNKS.names) <= set(read(folder)[0])


def test_vectors_are_lists_of_numbers_that_are_never_null(folder):
    paths = list(folder.rglob("*.parquet"))
    assert paths
    for path in paths:
        schema = pq.read_schema(path)
        assert schema.metadata is None or b"ARROW:schema" not in schema.metadata
        kind = schema.field("embedding").type
        assert pa.types.is_list(kind)
        assert kind.value_field == pa.field("element", pa.float32(), nullable=False)
        assert not any(pa.types.is_dictionary(one) or pa.types.is_large_string(one) for one in schema.types)


def test_duckdb_casts_vectors_to_arrays_and_finds_the_nearest(folder, history):
    key, row = next(iter(rows(history, 2).items()))
    (nearest,) = duckdb.execute(
        f"SELECT chunk_id FROM read_parquet('{folder}/**/*.parquet') "
        f"ORDER BY array_cosine_distance(embedding::FLOAT[{DIMENSION}], $1::FLOAT[{DIMENSION}]), chunk_id LIMIT 1",
        [row["embedding"]],
    ).fetchone()
    assert nearest == key

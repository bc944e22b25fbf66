"""What other readers see of a table that the job has written, and that its bytes are the same each time."""

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from transforms.table.schema import CHUNKS


@pytest.fixture
def published(world):
    for n in range(20):
        world.put(f"pages/{n:02}.md", f"# Page {n}\n\n" + f"Sentence {n} about wheels. " * 40)
    world.settings = {"size": {"target": 300, "max": 300}}
    world.run(run={"workers": 1, "shard_bytes": 4096})
    return world


def test_pyarrow_pandas_and_duckdb_read_the_same_rows(published):
    folder = published.snapshot(1) / "chunks"
    arrow = ds.dataset(folder, format="parquet", partitioning="hive").to_table()
    frame = pd.read_parquet(folder)
    duck = duckdb.sql(
        f"SELECT chunk_id, text, source, source_name, embedding "
        f"FROM read_parquet('{folder}/**/*.parquet', hive_partitioning = true)"
    ).fetchall()
    ids = sorted(arrow["chunk_id"].to_pylist())
    assert len(ids) > 20
    assert sorted(frame["chunk_id"]) == ids
    assert sorted(row[0] for row in duck) == ids
    assert {row[2] for row in duck} == {row[3] for row in duck} == {"docs"}
    vectors = {row[0]: row[4] for row in duck}
    for row in arrow.select(["chunk_id", "embedding"]).to_pylist():
        assert np.array_equal(np.float32(vectors[row["chunk_id"]]), np.float32(row["embedding"]))


def test_every_file_has_the_schemas_columns_in_its_order_and_types(published):
    files = sorted((published.snapshot(1) / "chunks").rglob("*.parquet"))
    assert len(files) > 1
    for path in files:
        schema = pq.read_schema(path)
        assert schema.names == CHUNKS.names
        assert schema.remove_metadata().equals(pq.read_schema(files[0]).remove_metadata())
        assert schema.field("embedding").type.value_type == pa.float32()
        assert not schema.field("embedding").type.value_field.nullable
        assert schema.field("text").type == pa.string()


def test_two_runs_from_scratch_with_one_and_two_workers_are_equal_to_the_byte(published, tmp_path):
    published.run(table=str(tmp_path / "other"), run={"workers": 2, "shard_bytes": 4096})
    for kind in ("chunks", "documents"):
        one = sorted((published.snapshot(1) / kind).rglob("*.parquet"))
        two = sorted((tmp_path / "other/snapshots/000001" / kind).rglob("*.parquet"))
        assert [path.name for path in one] == [path.name for path in two]
        assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]

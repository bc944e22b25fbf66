"""A table with the vectors of several models, each source its own."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.stores.adapters import duckdb
from tests.stores.history import at
from transforms.loaders.load import load
from transforms.loaders.settings import LoadSettings
from transforms.model.errors import ConfigError

OTHER = "Notes & more"


@pytest.fixture
def store(table):
    """The vectors of one source are those of another model."""
    store = at(table, 1)
    for path in (table / "snapshots/000001/chunks").rglob("*.parquet"):
        found = pq.read_table(path, partitioning=None)
        if found["source_name"][0].as_py() == OTHER:
            place = found.schema.get_field_index("embed_model")
            models = pa.array(["other@1"] * found.num_rows)
            path.unlink()
            pq.write_table(found.set_column(place, found.schema.field(place), models), path)
    return store


def test_other_sources_are_loaded_with_the_model_of_theirs(store, tmp_path):
    to = f"duckdb:{tmp_path}/x.duckdb"
    load(store, LoadSettings(to=to, sources=["manual"]))
    done = load(store, LoadSettings(to=to, sources=[OTHER]))
    assert (done.kind, done.why) == ("full", "other rows are chosen")
    assert {row.source_name for row in duckdb.rows(to, "chunks").values()} == {OTHER}
    assert done.rows == len(duckdb.rows(to, "chunks"))


def test_all_sources_after_one_need_a_model_that_is_named(store, tmp_path):
    to = f"duckdb:{tmp_path}/x.duckdb"
    load(store, LoadSettings(to=to, sources=["manual"]))
    with pytest.raises(ConfigError, match="vectors of several models"):
        load(store, LoadSettings(to=to))

"""A first load that fails has made nothing: what stands under the name later is somebody else's."""

import duckdb
import pytest

from tests.stores.history import at
from transforms.loaders.load import load
from transforms.loaders.plan import Wishes
from transforms.loaders.settings import LoadSettings
from transforms.model.errors import GuardError, ParquetryError


def fail(done, total):
    raise OSError("the connection was lost")


def test_a_collection_that_somebody_makes_meanwhile_is_not_replaced(table, tmp_path):
    settings = LoadSettings(to=f"duckdb:{tmp_path}/x.duckdb")
    with pytest.raises(ParquetryError, match="the connection was lost"):
        load(at(table, 1), settings, Wishes(), fail)
    with duckdb.connect(str(tmp_path / "x.duckdb")) as db:
        db.execute("CREATE TABLE chunks AS SELECT 7 AS mine")
    with pytest.raises(GuardError, match="somebody else writes there"):
        load(at(table, 1), settings)
    with duckdb.connect(str(tmp_path / "x.duckdb"), read_only=True) as db:
        assert db.execute("SELECT mine FROM chunks").fetchall() == [(7,)]


def test_where_nothing_is_there_the_next_load_makes_it(table, tmp_path):
    settings = LoadSettings(to=f"duckdb:{tmp_path}/x.duckdb")
    with pytest.raises(ParquetryError, match="the connection was lost"):
        load(at(table, 1), settings, Wishes(), fail)
    assert load(at(table, 1), settings).kind == "full"


def test_a_full_load_that_fails_leaves_the_collection_and_its_state_as_they_were(table, tmp_path):
    settings = LoadSettings(to=f"duckdb:{tmp_path}/x.duckdb")
    load(at(table, 1), settings)
    with pytest.raises(ParquetryError, match="the connection was lost"):
        load(at(table, 2), settings, Wishes(full=True), fail)
    assert load(at(table, 1), settings).kind == "nothing"
    assert load(at(table, 2), settings).kind == "changes"

"""A table that has lost all of its rows empties the store, and a filter that leaves none does so too."""

import json

import duckdb
import pytest

from tests.stores.history import at
from transforms.loaders.load import load
from transforms.loaders.plan import Wishes
from transforms.loaders.settings import LoadSettings
from transforms.model.errors import ConfigError


def emptied(table, number):
    """Take all files out of a snapshot, as if every document were gone."""
    store = at(table, number)
    path = table / f"snapshots/{number:06}/manifest.json"
    manifest = json.loads(path.read_text())
    for counts in (manifest["counts"], *(source["counts"] for source in manifest["sources"].values())):
        counts.update(dict.fromkeys(counts, 0))
    path.write_text(json.dumps(manifest | {"files": []}))
    return store


def held(tmp_path):
    with duckdb.connect(str(tmp_path / "x.duckdb"), read_only=True) as db:
        return db.execute("SELECT count(*) FROM chunks").fetchone()[0]


def test_a_store_that_was_loaded_is_emptied(table, tmp_path):
    settings = LoadSettings(to=f"duckdb:{tmp_path}/x.duckdb")
    load(at(table, 1), settings)
    done = load(emptied(table, 2), settings, Wishes(full=True))
    assert (done.kind, done.rows) == ("full", 0)
    assert held(tmp_path) == 0


def test_a_new_store_is_not_made_for_a_table_without_vectors(table, tmp_path):
    with pytest.raises(ConfigError, match="There is nothing to load"):
        load(emptied(table, 2), LoadSettings(to=f"duckdb:{tmp_path}/x.duckdb"))


def test_a_filter_that_no_row_meets_leaves_nothing(table, tmp_path):
    settings = LoadSettings(to=f"duckdb:{tmp_path}/x.duckdb", filter=["doc_id=nowhere.md"])
    assert load(at(table, 1), settings).rows == 0
    assert load(at(table, 2), settings).kind == "changes"
    assert held(tmp_path) == 0

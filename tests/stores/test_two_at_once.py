"""Two loads into one collection at once, which nothing keeps apart, are noticed and made good."""

import pytest

from tests.stores.adapters import lancedb
from tests.stores.history import at, rows
from transforms.loaders.load import load
from transforms.loaders.settings import LoadSettings
from transforms.model.errors import StorageError


@pytest.fixture
def settings(tmp_path):
    return LoadSettings(to=f"lancedb:{tmp_path}/store", batch=16)


def test_a_load_that_another_one_came_between_ends_in_a_sentence_and_the_next_loads_in_full(
    table, settings
):
    store = at(table, 1)
    load(store, settings)
    between = []

    def watch(done, total):
        if not between:
            between.append(load(at(table, 3), settings))

    with pytest.raises(StorageError, match=r"Another load wrote to .*#chunks at the same time"):
        load(at(table, 2), settings, watch=watch)
    assert between[0].kind == "changes"
    done = load(at(table, 3), settings)
    assert (done.kind, done.why) == ("full", "the last load did not end")
    assert set(lancedb.rows(settings.to, "chunks")) == set(rows(table, 3))
    assert load(at(table, 3), settings).kind == "nothing"


def test_two_loads_of_the_same_snapshot_are_noticed_too(table, settings):
    store, between = at(table, 1), []

    def watch(done, total):
        if not between:
            between.append(load(store, settings))

    with pytest.raises(StorageError, match="at the same time"):
        load(store, settings, watch=watch)
    assert load(store, settings).kind == "full"

"""What loaders do with single rows and with each index, in every store."""

import dataclasses

import pyarrow as pa
import pytest

from tests.stores.adapters.seen import Seen
from tests.stores.history import at, rows
from tests.stores.test_contract import batch, target_of
from transforms.loaders.protocol import Index
from transforms.model.errors import ConfigError

ROW = "00000001-0000-4000-8000-000000000000"
OTHER = "00000002-0000-4000-8000-000000000000"
NOBODY = "00000003-0000-4000-8000-000000000000"


def test_a_value_that_a_row_has_no_more_is_gone(stand):
    target = target_of(16)
    row = batch(target, [ROW])
    seen = []
    for title, path in (("x", ["a", "b"]), (None, []), ("y", ["c"])):
        changed = replaced(replaced(row, "doc_title", title), "section_path", path)
        with stand.loader() as loader:
            if not seen:
                loader.replace(target, iter([changed]))
            else:
                loader.upsert(target, changed)
            loader.finish(target)
        seen.append(stand.rows()[ROW])
    assert seen == [
        Seen("x", "x", 1, ["a", "b"], "x"),
        Seen("x", "x", 1, [], None),
        Seen("x", "x", 1, ["c"], "y"),
    ]


def replaced(row, name, value):
    place = row.schema.get_field_index(name)
    field = row.schema.field(place)
    return row.set_column(place, field, pa.array([value], field.type))


@pytest.mark.parametrize("kind", ["default", "none", "hnsw"])
@pytest.mark.parametrize("metric", ["cosine", "dot", "l2"])
def test_every_metric_and_index_that_a_store_has_can_be_made_and_is_known_again(stand, metric, kind):
    index = Index(kind, m=8, ef_construction=32)
    target = dataclasses.replace(target_of(16), metric=metric, index=index)
    with stand.loader() as loader:
        if metric not in loader.limits.metrics or kind not in loader.limits.indexes:
            pytest.skip("the store has no such index")
        loader.replace(target, iter([batch(target, [ROW, OTHER])]))
        loader.finish(target)
        found = loader.describe("chunks")
        assert found.dimension in (None, 16)
        assert found.metric in (None, metric)
        assert loader.held(target, [ROW, OTHER, NOBODY]) == {ROW, OTHER}
        loader.drop("chunks")
        assert loader.describe("chunks") is None
        loader.drop("chunks")


def test_an_index_that_a_store_has_not_is_refused_before_anything_is_written(stand, table):
    with stand.loader() as loader:
        missing = {"default", "none", "hnsw"} - loader.limits.indexes
    for kind in missing:
        with pytest.raises(ConfigError, match=f"has no index of kind {kind}; it has default"):
            stand.load(at(table, 1), index={"kind": kind})
        with stand.loader() as loader:
            assert loader.describe("chunks") is None
            assert loader.state("chunks") is None


def test_a_collection_that_readers_come_to_by_an_alias_is_not_dropped_under_them(stand, table):
    live = f"{stand.to}#live"
    with stand.loader() as loader:
        if loader.limits.atomic or not loader.limits.aliases:
            pytest.skip("the store drops nothing, or has no aliases")
    stand.load(at(table, 4), to=live, into="blue", switch=True)
    for more in ({}, {"into": "blue"}, {"into": "blue", "switch": True}):
        with pytest.raises(ConfigError, match=r"blue must be made anew, .* and live stands for it"):
            stand.load(at(table, 5), to=live, **more)
    assert len(stand.rows("live")) == len(rows(table, 4))
    assert stand.load(at(table, 5), to=live, into="green", switch=True).kind == "full"
    assert len(stand.rows("live")) == len(rows(table, 5))

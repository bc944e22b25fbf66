"""Exports from tables in buckets to buckets: what lies there, what is complete, and what goes when it is repeated."""

import importlib.util

import pytest

from tests.storage.conftest import ENDPOINTS, bucket_root
from tests.stores.exports.conftest import publish_rows, row
from transforms.exports.export import Wishes, check, export
from transforms.exports.registry import find_profile
from transforms.storage.registry import open_store


@pytest.fixture(params=sorted(ENDPOINTS))
def kind(request):
    return request.param


@pytest.fixture
def root(kind, request):
    """A table of two snapshots in a new bucket."""
    open_store.cache_clear()
    root = bucket_root(kind, request)
    store = open_store(root)
    publish_rows(store, 1, [row("a"), row("b")], [])
    publish_rows(store, 2, [row("a"), row("c", changed_in=2)], ["b"])
    yield root
    open_store.cache_clear()


def names(place):
    return [info.name for page in place.list() for info in page]


def test_an_export_in_a_bucket_is_complete_and_replaces_the_one_before(root):
    to, profile = f"{root}-export", find_profile("vertex")
    export(root, profile, Wishes(to, since=1))
    place = open_store(to)
    assert names(place) == [
        "README.md",
        "batch_root/delete/part-000001.txt",
        "batch_root/part-000001.json",
        "export.json",
    ]
    assert place.read("batch_root/delete/part-000001.txt") == b"b\n"
    assert list(check(profile, to)) == []
    export(root, profile, Wishes(to))
    assert names(place) == ["README.md", "batch_root/part-000001.json", "export.json"]
    assert list(check(profile, to)) == []


def test_an_export_that_dies_in_a_bucket_is_not_complete(root):
    to, profile = f"{root}-export", find_profile("pinecone")

    def die(_rows):
        raise KeyboardInterrupt

    export(root, profile, Wishes(to))
    with pytest.raises(KeyboardInterrupt):
        export(root, profile, Wishes(to), die)
    assert names(open_store(to)) == ["export.unfinished.json"]


@pytest.mark.parametrize("kind", ["s3"])
def test_a_delta_table_lies_in_a_bucket(root, monkeypatch):
    if importlib.util.find_spec("deltalake") is None:
        pytest.skip("deltalake is not installed; the extra `stores` brings it")
    to, profile = f"{root}-export", find_profile("delta")
    for _again in range(2):
        export(root, profile, Wishes(to))
    assert list(check(profile, to)) == []
    place = open_store(f"{to}/delta")
    assert [name for name in names(place) if name.startswith("_delta_log/")] == [
        "_delta_log/00000000000000000000.json"
    ]

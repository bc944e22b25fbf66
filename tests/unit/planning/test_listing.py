from types import SimpleNamespace

import pyarrow as pa
import pytest

from transforms.planning.listing import listing_tables
from transforms.planning.selection import EVERYTHING
from transforms.storage.local import LocalStore


def names(root, table, include=("**",)):
    source = SimpleNamespace(root=str(root), include=include, exclude=(), inventory=None)
    job = SimpleNamespace(table=str(table), source={"docs": source}, selection=EVERYTHING)
    return pa.concat_tables(listing_tables(job, "docs"))["object_name"].to_pylist()


@pytest.fixture
def corpus(tmp_path):
    store = LocalStore(str(tmp_path / "c"))
    for name in ("a.md", "build/t.md", "build/t/latest.json", "build/t/runs/1.json", "build/tt/b.md"):
        store.write(name, b"x")
    return tmp_path / "c"


def test_the_table_is_left_out_of_a_source_that_it_lies_in(corpus):
    assert names(corpus, corpus / "build/t") == ["a.md", "build/t.md", "build/tt/b.md"]


def test_the_table_is_left_out_however_table_and_root_are_written(corpus, monkeypatch):
    (corpus.parent / "link").symlink_to(corpus)
    monkeypatch.chdir(corpus)
    expected = ["a.md", "build/t.md", "build/tt/b.md"]
    for root in (".", str(corpus), f"file://{corpus}", corpus.parent / "link", "../c"):
        for table in ("build/t", "./build//t/", corpus / "build/t", f"file://{corpus}/build/t"):
            assert names(root, table) == expected, (root, table)
        assert names(root, corpus.parent / "link/build/t") == expected


def test_a_table_elsewhere_leaves_nothing_out(corpus):
    assert len(names(corpus, corpus.parent / "t")) == 5
    assert names(corpus / "build/tt", corpus / "build/t") == ["b.md"]


def test_a_source_without_objects_has_an_empty_listing(corpus):
    assert names(corpus, corpus.parent / "t", include=("*.pdf",)) == []

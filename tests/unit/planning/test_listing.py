"""Which objects a source has, without the files of tables that lie in it."""

from collections import Counter
from types import SimpleNamespace

import pyarrow as pa
import pytest

from transforms.model.errors import StorageError
from transforms.planning.listing import listing_tables
from transforms.planning.selection import EVERYTHING
from transforms.storage.local import LocalStore


def names(root, table, include=("**",), left_out=None):
    source = SimpleNamespace(root=str(root), include=include, exclude=(), inventory=None)
    job = SimpleNamespace(table=str(table), source={"docs": source}, selection=EVERYTHING)
    return pa.concat_tables(listing_tables(job, "docs", left_out))["object_name"].to_pylist()


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


POINTER = (
    b'{"schema_version": 1, "snapshot": 2, "highest": 3, "manifest": "snapshots/000002/manifest.json"}'
)
MANIFEST = b'{"schema_version": 1, "snapshot": 7, "run_id": "r", "files": []}'
CLAIM = b'{"run_id": "r", "host": "h", "pid": 1, "expires_at": "2026-01-01T00:00:00Z"}'
RUN = "runs/20261130T101112Z-0123abcd.json"


def put(root, **marks):
    """``marks``: what stands in files that only tables have, by their names below the folder ``t``."""
    store = LocalStore(str(root))
    for name in (
        "a.md",
        "t/notes.md",
        "t/snapshots/notes.md",
        "t/snapshots/000007/chunks/source=docs/s.parquet",
    ):
        store.write(name, b"x")
    for name, data in marks.items():
        store.write(name, data)
    return root


@pytest.mark.parametrize(
    "marks",
    [
        {"t/latest.json": POINTER, f"t/{RUN}": b"{}"},
        # The pointer was lost.
        {"t/snapshots/000007/manifest.json": MANIFEST, f"t/{RUN}": b"{}"},
        # The first run is at work.
        {"t/snapshots/000007/_plan/_claim.json": CLAIM},
    ],
    ids=["pointer", "manifest", "claim"],
)
def test_another_table_is_left_out_and_counted(tmp_path, marks):
    root, left_out = put(tmp_path / "c", **marks), Counter()
    # What people put beside its files is theirs.
    assert names(root, tmp_path / "t", left_out=left_out) == ["a.md", "t/notes.md", "t/snapshots/notes.md"]
    assert left_out == {f"{root}/t": 1 + len(marks)}


def test_a_table_that_is_the_whole_source_is_left_out(tmp_path):
    root, left_out = put(tmp_path / "c", **{"t/latest.json": POINTER}), Counter()
    assert names(root / "t", tmp_path / "t", left_out=left_out) == ["notes.md", "snapshots/notes.md"]
    assert left_out == {f"{root}/t": 2}


@pytest.mark.parametrize("data", [b"", b"[]", b'{"snapshot": 2}', b"{" * 100_000, b"\xff\xfe"])
def test_folders_that_only_look_like_a_table_stay(tmp_path, data):
    marks = (
        "t/latest.json",
        "t/snapshots/000007/manifest.json",
        "latest.json/a.md",
        "xlatest.json",
        f"t/{RUN}",
    )
    root, left_out = put(tmp_path / "c", **dict.fromkeys(marks, data)), Counter()
    assert len(names(root, tmp_path / "t", left_out=left_out)) == 4 + len(marks)
    assert not left_out


def test_a_place_that_may_not_be_looked_at_keeps_nobody_from_listing(tmp_path, monkeypatch):
    """As where an inventory stands for a listing that is not allowed."""
    root = put(tmp_path / "c", **{f"t/{RUN}": b"{}"})

    def refuse(self, prefix=""):
        raise StorageError("denied")

    monkeypatch.setattr(LocalStore, "level", refuse)
    assert len(names(root, tmp_path / "t")) == 5


def test_a_table_that_is_excluded_is_not_counted(tmp_path):
    root, left_out = put(tmp_path / "c", **{"t/latest.json": POINTER}), Counter()
    assert names(root, tmp_path / "t", include=("a.md",), left_out=left_out) == ["a.md"]
    assert not left_out


def test_a_place_that_looks_like_a_table_is_looked_at_once(tmp_path, monkeypatch):
    root = put(
        tmp_path / "c", **{"t/latest.json": POINTER, **{f"t/snapshots/{n:06}/x": b"x" for n in range(50)}}
    )
    real, read = LocalStore.read, []
    monkeypatch.setattr(LocalStore, "read", lambda self, *a, **k: [read.append(a), real(self, *a, **k)][1])
    assert len(names(root, tmp_path / "t")) == 3
    assert read == [("t/latest.json",)]

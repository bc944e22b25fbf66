"""Rows are found by the hash of their key, in whatever file they are."""

import hashlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from transforms.storage.registry import open_store
from transforms.table import lookup
from transforms.table.lookup import HashIndex, prefixes_of


def digest(n):
    return hashlib.sha256(str(n).encode()).hexdigest()[:32]


@pytest.fixture
def store(tmp_path):
    for name, numbers in (("a", range(10)), ("b", range(5, 20))):
        rows = pa.table({"key": [digest(n) for n in numbers], "value": [f"{name}{n}" for n in numbers]})
        pq.write_table(rows, tmp_path / f"{name}.parquet", row_group_size=4)
    return open_store(str(tmp_path))


def fetched(index, *numbers):
    tables = index.fetch(pa.array([digest(n) for n in numbers], pa.string()), ["value"])
    return sorted(value for table in tables for value in table["value"].to_pylist())


def test_rows_are_found_in_whatever_file_and_row_group_they_are(store):
    index = HashIndex(store, ["a.parquet", "b.parquet"], "key")
    assert len(index) == 25
    assert fetched(index, 0, 3, 4, 19) == ["a0", "a3", "a4", "b19"]


def test_of_equal_hashes_the_first_file_counts(store):
    assert fetched(HashIndex(store, ["b.parquet", "a.parquet"], "key"), 4, 7) == ["a4", "b7"]


def test_every_row_of_a_hash_is_that_of_the_first_file_alone(store, tmp_path):
    keys = [digest(n) for n in (1, 1, 2, 1, 3)]
    rows = pa.table({"key": keys, "value": [f"c{n}" for n in range(5)]})
    pq.write_table(rows, tmp_path / "c.parquet", row_group_size=2)
    index = HashIndex(store, ["c.parquet", "a.parquet"], "key")
    found = index.fetch(pa.array([digest(n) for n in (1, 3, 4, 99)]), ["value"], every=True)
    assert sorted(value for table in found for value in table["value"].to_pylist()) == [
        "a4",
        "c0",
        "c1",
        "c3",
        "c4",
    ]
    assert fetched(index, 1, 4) == ["a4", "c0"]


def test_what_is_not_there_is_not_found(store):
    index = HashIndex(store, ["a.parquet"], "key")
    assert fetched(index, 99) == []
    assert fetched(index) == []
    assert fetched(HashIndex(store, [], "key"), 1) == []


def test_a_file_that_is_gone_holds_nothing(store, tmp_path):
    index = HashIndex(store, ["a.parquet", "gone.parquet", "b.parquet"], "key")
    (tmp_path / "a.parquet").unlink()
    assert fetched(index, 1, 12) == ["b12"]


def test_a_file_that_was_written_again_gives_no_other_row(store, tmp_path):
    index = HashIndex(store, ["a.parquet"], "key")
    rows = pa.table({"key": [digest(n) for n in range(30, 40)], "value": [str(n) for n in range(30, 40)]})
    pq.write_table(rows, tmp_path / "a.parquet")
    assert fetched(index, 1) == []


def test_an_index_stops_at_the_file_that_would_be_too_much(store, monkeypatch):
    monkeypatch.setattr(lookup, "MOST_ROWS", 12)
    index = HashIndex(store, ["a.parquet", "b.parquet"], "key")
    assert len(index) == 10
    assert fetched(index, 1, 12) == ["a1"]


def test_prefixes_are_the_first_eight_bytes_of_sliced_columns_too():
    hashes = pa.array([digest(n) for n in range(5)])
    expected = np.array([bytes.fromhex(digest(n))[:8] for n in range(5)]).view("S8")
    assert prefixes_of(hashes.slice(2)).tobytes() == b"".join(expected[2:].tolist())
    assert len(prefixes_of(pa.array([], pa.string()))) == 0

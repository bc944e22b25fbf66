"""HNSW where a store builds it on request, kept through changes; and keys of libraries that have none but numbers."""

import json

import faiss
import lancedb
import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.stores.history import at, rows
from transforms.loaders import index_files
from transforms.loaders.load import load
from transforms.loaders.settings import LoadSettings
from transforms.model.errors import ConfigError

HNSW = {"kind": "hnsw", "m": 8, "ef_construction": 32}


def test_faiss_hnsw_is_made_anew_where_rows_go(table, tmp_path):
    to = f"faiss:{tmp_path}/index"
    for number in (1, 2, 4):
        load(at(table, number), LoadSettings(to=to, index=HNSW))
        folder = tmp_path / "index/chunks"
        current = json.loads((folder / "current.json").read_text())
        index = faiss.read_index(str(folder / current["index"]))
        found = pq.read_table(folder / current["rows"]).to_pylist()
        expected = rows(table, number)
        assert index.ntotal == len(expected) == len(found)
        for row in found[::7]:
            _, keys = index.search(np.float32([expected[row["chunk_id"]]["embedding"]]), 3)
            assert row["index_key"] in keys[0]


def test_lancedb_has_rows_of_later_changes_in_the_index_of_vectors_and_in_that_of_words(table, tmp_path):
    to = f"lancedb:{tmp_path}/lance"
    for number in (1, 2):
        load(at(table, number), LoadSettings(to=to, index=HNSW))
    opened = lancedb.connect(tmp_path / "lance").open_table("chunks")
    kinds = {index.columns[0]: str(index.index_type).lower() for index in opened.list_indices()}
    assert (kinds.keys(), kinds["text"]) == ({"embedding", "text"}, "fts")
    assert "hnsw" in kinds["embedding"]
    for index in opened.list_indices():
        assert opened.index_stats(index.name).num_unindexed_rows == 0
    for key, row in list(rows(table, 2).items())[::7]:
        found = opened.search(np.float32(row["embedding"])).distance_type("cosine").limit(3).to_list()
        assert key in [one["chunk_id"] for one in found]


def test_ids_with_one_hash_get_keys_of_their_own(monkeypatch):
    class Same:
        def __init__(self, data, digest_size):
            pass

        def digest(self):
            return (2 * 7).to_bytes(8, "little")

    monkeypatch.setattr(index_files, "blake2b", Same)
    used = {9}
    assert index_files.keys_of(["a", "b"], used).tolist() == [7, 8]
    assert index_files.keys_of(["c"], used).tolist() == [10]
    assert used == {7, 8, 9, 10}


def test_keys_are_64_bits_and_never_negative():
    keys = index_files.keys_of([str(n) for n in range(1000)], set())
    assert keys.dtype == np.int64
    assert (keys >= 0).all()
    assert len(set(keys.tolist())) == 1000


def test_a_column_that_is_called_like_the_keys_is_refused(table, tmp_path):
    with pytest.raises(ConfigError, match="keeps its own keys as index_key"):
        load(at(table, 1), LoadSettings(to=f"faiss:{tmp_path}/index", columns={"text": "index_key"}))

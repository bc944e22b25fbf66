"""FAISS as its users see it: an index file, and a Parquet file of the rows that belong to its keys."""

import json
from contextlib import contextmanager
from pathlib import Path

import faiss
import numpy as np
import pyarrow.parquet as pq

from tests.stores.adapters.fusion import fused
from tests.stores.adapters.seen import Seen
from transforms.sparse.score import scores


@contextmanager
def started():
    yield lambda folder: f"faiss:{folder}/index"


def files(to, collection):
    """The paths of the index and of the rows."""
    folder = Path(to.partition(":")[2]) / collection
    current = json.loads((folder / "current.json").read_text())
    assert len([path for path in folder.iterdir() if path.suffix != ".json"]) == 2
    return folder / current["index"], folder / current["rows"]


def opened(to, collection):
    """The path of the index, and the rows by key."""
    index, table = files(to, collection)
    return index, {row["index_key"]: row for row in pq.read_table(table).to_pylist()}


def rows(to, collection):
    _, by_key = opened(to, collection)
    names = ("text", "source_name", "chunk_index", "section_path", "doc_title")
    return {row["chunk_id"]: Seen(*(row[name] for name in names)) for row in by_key.values()}


def nearest(to, collection, vector, most, source=None):
    path, by_key = opened(to, collection)
    among = [key for key, row in by_key.items() if source in (None, row["source_name"])]
    index = faiss.read_index(str(path))
    assert index.ntotal == len(by_key)
    wanted = faiss.SearchParameters(sel=faiss.IDSelectorBatch(np.array(among, np.int64)))
    _, keys = index.search(vector[np.newaxis], most, params=wanted)
    return [by_key[int(key)]["chunk_id"] for key in keys[0]]


def by_terms(to, collection, terms, most):
    rows = pq.read_table(files(to, collection)[1]).combine_chunks()
    ids, weights = np.array(list(terms), np.uint32), np.array(list(terms.values()), np.float32)
    by_terms = scores(rows["sparse_indices"].chunk(0), rows["sparse_values"].chunk(0), ids, weights)
    best = np.argsort(-by_terms, kind="stable")[:most]
    return rows["chunk_id"].take(best[by_terms[best] > 0]).to_pylist()


def hybrid(to, collection, question, most):
    near = nearest(to, collection, question.vector, 100)
    return fused(most, near, by_terms(to, collection, question.terms, 100))

"""USearch as its users see it: an index file, and a Parquet file of the rows that belong to its keys."""

from contextlib import contextmanager

from usearch.index import Index

from tests.stores.adapters import faiss
from tests.stores.adapters.fusion import fused

rows = faiss.rows
by_terms = faiss.by_terms


@contextmanager
def started():
    yield lambda folder: f"usearch:{folder}/index"


def nearest(to, collection, vector, most, source=None):
    path, by_key = faiss.opened(to, collection)
    index = Index.restore(str(path))
    assert len(index) == len(by_key)
    # It filters by nothing but keys: what is wanted is taken of all, the nearest first.
    keys = index.search(vector, len(by_key), exact=True).keys
    found = [by_key[int(key)] for key in keys]
    return [row["chunk_id"] for row in found if source in (None, row["source_name"])][:most]


def hybrid(to, collection, question, most):
    near = nearest(to, collection, question.vector, 100)
    return fused(most, near, by_terms(to, collection, question.terms, 100))

"""LanceDB as its users see it."""

from contextlib import contextmanager

import lancedb

from tests.stores.adapters.seen import Seen


@contextmanager
def started():
    yield lambda folder: f"lancedb:{folder}/lance"


def _table(to, collection):
    return lancedb.connect(to.removeprefix("lancedb:")).open_table(collection)


def rows(to, collection):
    found = _table(to, collection).to_arrow().to_pylist()
    names = ("text", "source_name", "chunk_index", "section_path", "doc_title")
    return {row["chunk_id"]: Seen(*(row[name] for name in names)) for row in found}


def nearest(to, collection, vector, most, source=None):
    query = (
        _table(to, collection)
        .search(vector, vector_column_name="embedding")
        .distance_type("cosine")
        .limit(most)
    )
    if source is not None:
        query = query.where(f"source_name = '{source}'", prefilter=True)
    return [row["chunk_id"] for row in query.to_list()]

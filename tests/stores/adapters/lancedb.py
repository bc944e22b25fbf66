"""LanceDB as its users see it."""

from contextlib import contextmanager

import lancedb
from lancedb.rerankers import RRFReranker

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


def by_words(to, collection, words, most):
    found = _table(to, collection).search(words, query_type="fts", fts_columns="text").limit(most)
    return [row["chunk_id"] for row in found.to_list()]


def hybrid(to, collection, question, most):
    table, vector, words = _table(to, collection), question.vector, question.words
    found = (
        table.search(query_type="hybrid", vector_column_name="embedding", fts_columns="text")
        .vector(vector)
        .text(words)
        .distance_type("cosine")
        .rerank(RRFReranker())
        .limit(10)
    )
    return [row["chunk_id"] for row in found.to_list()][:most]

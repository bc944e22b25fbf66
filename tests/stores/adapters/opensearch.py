"""OpenSearch as its users see it, over HTTP: the real engine with its k-NN plugin."""

from contextlib import contextmanager

import httpx
import pytest

from tests.stores.adapters.fusion import fused
from tests.stores.adapters.seen import Seen
from tests.stores.servers.opensearch import missing, opensearch_server


@contextmanager
def started():
    if missing():
        pytest.skip(f"opensearch: {missing()}")
    with opensearch_server() as url:

        def address(folder):
            httpx.delete(f"{url}/*", timeout=60).raise_for_status()
            return url.replace("http:", "opensearch:")

        yield address


SPARSE_ERROR = 2**-8
"""A rank feature is kept with nine bits."""


def _search(to, collection, wanted):
    url = to.replace("opensearch:", "http:")
    found = httpx.post(f"{url}/{collection}/_search", json=wanted, timeout=60).raise_for_status()
    return found.json()["hits"]["hits"]


def rows(to, collection):
    names = ("text", "source_name", "chunk_index", "section_path", "doc_title")
    found = _search(to, collection, {"size": 10_000, "query": {"match_all": {}}})
    return {hit["_id"]: Seen(*(hit["_source"][name] for name in names)) for hit in found}


def nearest(to, collection, vector, most, source=None):
    # The index is approximate; among so many candidates it is not.
    knn = {"vector": vector.tolist(), "k": 200}
    if source is not None:
        knn["filter"] = {"term": {"source_name": source}}
    found = _search(to, collection, {"size": most, "query": {"knn": {"embedding": knn}}})
    return [hit["_id"] for hit in found]


def by_terms(to, collection, terms, most):
    found = _search(to, collection, {"size": most, "query": _by_terms(list(terms), list(terms.values()))})
    return [hit["_id"] for hit in found]


def _by_terms(terms, weights):
    features = [
        {"rank_feature": {"field": f"sparse.{term}", "linear": {}, "boost": weight}}
        for term, weight in zip(terms, weights, strict=True)
    ]
    by_terms = {"bool": {"should": features}}
    return by_terms  # noqa: RET504 - as the documents show it


def by_words(to, collection, words, most):
    wanted = {"size": most, "query": {"match": {"text": words}}}
    return [hit["_id"] for hit in _search(to, collection, wanted)]


def hybrid(to, collection, question, most):
    vector = question.vector.tolist()
    by_terms = _by_terms(list(question.terms), list(question.terms.values()))
    by_vector = {"knn": {"embedding": {"vector": vector, "k": 100}}}
    near, found = (
        [hit["_id"] for hit in _search(to, collection, {"size": 100, "query": query})]
        for query in (by_vector, by_terms)
    )
    return fused(most, near, found)

"""Elasticsearch as its users see it, over HTTP; the server is the small one of the tests."""

from contextlib import contextmanager

import httpx

from tests.stores.adapters.fusion import fused
from tests.stores.adapters.seen import Seen
from tests.stores.servers.elastic import elastic_server

servers = []
"""The one that is running, for tests that make trouble."""


@contextmanager
def started():
    with elastic_server() as server:
        servers.append(server)

        def address(folder):
            server.wipe()
            return server.url.replace("http:", "elasticsearch:")

        yield address
        servers.remove(server)


def rows(to, collection):
    [server] = servers
    shown = server._index(collection)["shown"]
    names = ("text", "source_name", "chunk_index", "section_path", "doc_title")
    return {key: Seen(*(document[name] for name in names)) for key, document in shown.items()}


SPARSE_ERROR = 2**-8
"""A rank feature is kept with nine bits."""


def nearest(to, collection, vector, most, source=None):
    knn = {"field": "embedding", "query_vector": vector.tolist(), "k": most, "num_candidates": 100}
    if source is not None:
        knn["filter"] = {"term": {"source_name": source}}
    return _search(to, collection, {"knn": knn, "size": most})


def by_terms(to, collection, terms, most):
    return _search(to, collection, {"query": _by_terms(terms), "size": most})


def by_words(to, collection, words, most):
    return _search(to, collection, {"query": {"match": {"text": words}}, "size": most})


def hybrid(to, collection, question, most):
    knn = {
        "field": "embedding",
        "query_vector": question.vector.tolist(),
        "k": 100,
        "num_candidates": 100,
    }
    near = _search(to, collection, {"knn": knn, "size": 100})
    return fused(most, near, _search(to, collection, {"query": _by_terms(question.terms), "size": 100}))


def _by_terms(terms):
    features = [
        {"rank_feature": {"field": f"sparse.{term}", "linear": {}, "boost": weight}}
        for term, weight in terms.items()
    ]
    return {"bool": {"should": features}}


def _search(to, collection, wanted):
    url = to.replace("elasticsearch:", "http:")
    found = httpx.post(f"{url}/{collection}/_search", json=wanted).raise_for_status()
    return [hit["_id"] for hit in found.json()["hits"]["hits"]]

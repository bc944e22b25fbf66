"""Elasticsearch as its users see it, over HTTP; the server is the small one of the tests."""

from contextlib import contextmanager

import httpx

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


def nearest(to, collection, vector, most, source=None):
    knn = {"field": "embedding", "query_vector": vector.tolist(), "k": most, "num_candidates": 100}
    if source is not None:
        knn["filter"] = {"term": {"source_name": source}}
    url = to.replace("elasticsearch:", "http:")
    found = httpx.post(f"{url}/{collection}/_search", json={"knn": knn, "size": most}).raise_for_status()
    return [hit["_id"] for hit in found.json()["hits"]["hits"]]

"""Milvus as its users see it, in a file of Milvus Lite."""

from contextlib import closing, contextmanager

from milvus_lite.server_manager import server_manager_instance
from pymilvus import AnnSearchRequest, MilvusClient, RRFRanker

from tests.stores.adapters.seen import Seen


@contextmanager
def started():
    yield lambda folder: f"milvus:{folder}/store.db"


@contextmanager
def _open(to):
    path = to.removeprefix("milvus:")
    with closing(MilvusClient(path)) as client:
        yield client
    server_manager_instance.release_server(path)


def rows(to, collection):
    names = ["text", "source_name", "chunk_index", "section_path", "doc_title"]
    with _open(to) as client:
        client.load_collection(collection)
        found = client.query(collection, filter="", limit=10_000, output_fields=["chunk_id", *names])
        return {row["chunk_id"]: _seen([row[name] for name in names]) for row in found}


def _seen(values):
    text, source, index, path, title = values
    return Seen(text, source, index, list(path), title)


def nearest(to, collection, vector, most, source=None):
    condition = "" if source is None else f'source_name == "{source}"'
    with _open(to) as client:
        client.load_collection(collection)
        found = client.search(collection, [vector], anns_field="embedding", limit=most, filter=condition)
        return _ids(found)


def by_terms(to, collection, terms, most):
    with _open(to) as client:
        client.load_collection(collection)
        return _ids(client.search(collection, [terms], anns_field="sparse", limit=most))


def hybrid(to, collection, question, most):
    vector, terms, weights = question.vector, list(question.terms), list(question.terms.values())
    with _open(to) as client:
        client.load_collection(collection)
        asked = dict(zip(terms, weights, strict=True))
        sides = [
            AnnSearchRequest([vector], "embedding", {"metric_type": "COSINE"}, limit=100),
            AnnSearchRequest([asked], "sparse", {"metric_type": "IP"}, limit=100),
        ]
        found = client.hybrid_search(collection, sides, RRFRanker(), limit=10)
    return _ids(found)[:most]


def _ids(found):
    return [hit["id"] if "id" in hit else hit["chunk_id"] for hit in found[0]]

"""Qdrant as its users see it, by its official client."""

from contextlib import closing, contextmanager

from qdrant_client import QdrantClient, models

from tests.stores.adapters.seen import Seen
from tests.stores.servers.qdrant import qdrant_server


@contextmanager
def started():
    with qdrant_server() as server:

        def address(folder):
            server.wipe()
            # The question weighs its terms: how the engine does by itself is no function of the rows alone.
            return f"{server.url.replace('http:', 'qdrant:')}?idf=false"

        yield address


def _open(to):
    url = to.replace("qdrant:", "http:").partition("?")[0]
    return closing(QdrantClient(url=url, check_compatibility=False))


def rows(to, collection):
    found = {}
    with _open(to) as client:
        offset = None
        while True:
            page, offset = client.scroll(collection, limit=40, offset=offset)
            found |= {str(point.id): _seen(point.payload) for point in page}
            if offset is None:
                return found


def _seen(row):
    names = ("text", "source_name", "chunk_index", "section_path", "doc_title")
    return Seen(*(row[name] for name in names))


def nearest(to, collection, vector, most, source=None):
    wanted = None
    if source is not None:
        condition = models.FieldCondition(key="source_name", match=models.MatchValue(value=source))
        wanted = models.Filter(must=[condition])
    with _open(to) as client:
        found = client.query_points(collection, query=vector.tolist(), query_filter=wanted, limit=most)
    return [str(point.id) for point in found.points]


def by_terms(to, collection, terms, most):
    asked = models.SparseVector(indices=list(terms), values=list(terms.values()))
    with _open(to) as client:
        found = client.query_points(collection, query=asked, using="sparse", limit=most)
    return [str(point.id) for point in found.points]


def hybrid(to, collection, question, most):
    vector, terms, weights = question.vector.tolist(), list(question.terms), list(question.terms.values())
    with _open(to) as client:
        asked = models.SparseVector(indices=terms, values=weights)
        found = client.query_points(
            collection,
            prefetch=[
                models.Prefetch(query=vector, limit=100),
                models.Prefetch(query=asked, using="sparse", limit=100),
            ],
            query=models.FusionQuery(fusion=models.Fusion.RRF),
            limit=10,
        )
    return [str(point.id) for point in found.points][:most]

"""Chroma as its users see it, in a folder."""

from contextlib import closing, contextmanager

import chromadb
from chromadb.config import Settings

from tests.stores.adapters.fusion import fused
from tests.stores.adapters.seen import Seen


@contextmanager
def started():
    yield lambda folder: f"chroma:{folder}/chroma"


def _open(to):
    return closing(
        chromadb.PersistentClient(to.removeprefix("chroma:"), Settings(anonymized_telemetry=False))
    )


def rows(to, collection):
    with _open(to) as client:
        found = client.get_collection(collection, embedding_function=None).get()
    return {
        key: Seen(
            text,
            row["source_name"],
            row["chunk_index"],
            list(row.get("section_path", [])),
            row.get("doc_title"),
        )
        for key, text, row in zip(found["ids"], found["documents"], found["metadatas"], strict=True)
    }


def nearest(to, collection, vector, most, source=None):
    wanted = {} if source is None else {"where": {"source_name": source}}
    with _open(to) as client:
        known = client.get_collection(collection, embedding_function=None)
        return known.query(query_embeddings=[vector], n_results=most, include=[], **wanted)["ids"][0]


def by_words(to, collection, words, most):
    with _open(to) as client:
        known = client.get_collection(collection, embedding_function=None)
        return known.get(where_document={"$contains": words}, limit=most, include=[])["ids"]


def hybrid(to, collection, question, most):
    with _open(to) as client:
        known = client.get_collection(collection, embedding_function=None)
        asked = {"query_embeddings": [question.vector], "n_results": most, "include": []}
        near = known.query(**asked)["ids"][0]
        holding = known.query(**asked, where_document={"$contains": question.words})["ids"][0]
    return fused(most, near, holding)

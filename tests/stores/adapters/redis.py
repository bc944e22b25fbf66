"""Redis as its users see it: hashes, and searches of the index."""

from contextlib import closing, contextmanager

import redis
from redis.commands.search.query import Query

from tests.stores.adapters.fusion import fused
from tests.stores.adapters.seen import Seen
from tests.stores.servers.redis import redis_server


@contextmanager
def started():
    with redis_server() as port:

        def address(folder):
            with closing(redis.Redis(port=port)) as client:
                client.flushall()
            return f"redis://127.0.0.1:{port}"

        yield address


def _open(to):
    return closing(redis.Redis.from_url(to, protocol=2))


def rows(to, collection):
    with _open(to) as client:
        found = client.ft(collection).search(_query("*", 10_000))
        return {document.id.split(":")[1]: _seen(client.hgetall(document.id)) for document in found.docs}


def _query(text, most):
    return Query(text).no_content().paging(0, most).dialect(2)


def _seen(found):
    row = {key.decode(): value for key, value in found.items()}
    path = row["section_path"].decode()
    title = row.get("doc_title")
    return Seen(
        row["text"].decode(),
        row["source_name"].decode(),
        int(row["chunk_index"]),
        path.split("\x1f") if path else [],
        None if title is None else title.decode(),
    )


def nearest(to, collection, vector, most, source=None):
    among = "*"
    if source is not None:
        escaped = "".join(letter if letter.isalnum() else f"\\{letter}" for letter in source)
        among = f"(@source_name:{{{escaped}}})"
    wanted = _query(f"{among}=>[KNN {most} @embedding $vector AS far]", most).sort_by("far")
    with _open(to) as client:
        found = client.ft(collection).search(wanted, {"vector": vector.tobytes()})
    return [document.id.split(":")[1] for document in found.docs]


def by_words(to, collection, words, most):
    with _open(to) as client:
        found = client.ft(collection).search(_query(f"@text:({words})", most))
    return [document.id.split(":")[1] for document in found.docs]


def hybrid(to, collection, question, most):
    vector, words = question.vector.tobytes(), question.words.split()
    with _open(to) as client:
        near = client.ft(collection).search(
            Query("*=>[KNN 100 @embedding $vector AS far]").sort_by("far").paging(0, 100).dialect(2),
            {"vector": vector},
        )
        found = client.ft(collection).search(Query(f"@text:({'|'.join(words)})").paging(0, 100).dialect(2))
    sides = ([document.id.split(":")[1] for document in side.docs] for side in (near, found))
    return fused(most, *sides)

"""ClickHouse's engine in this process, as its users see it."""

from contextlib import closing, contextmanager

from chdb import session

from tests.stores.adapters.seen import Seen


@contextmanager
def started():
    yield lambda folder: f"chdb:{folder}/chdb"


def _table(to, query):
    with closing(session.Session(to.removeprefix("chdb:"))) as opened:
        return opened.query(query, "ArrowTable").to_pylist()


def rows(to, collection):
    found = _table(
        to,
        f"SELECT chunk_id, text, source_name, chunk_index, section_path, doc_title FROM `{collection}` "
        f"{'' if collection == 'live' else 'FINAL'}",
    )
    return {row.pop("chunk_id"): Seen(**row) for row in found}


def nearest(to, collection, vector, most, source=None):
    where = "" if source is None else f"WHERE source_name = '{source}'"
    found = _table(
        to,
        f"SELECT chunk_id FROM `{collection}` FINAL {where} "
        f"ORDER BY cosineDistance(embedding, {vector.tolist()}) LIMIT {most}",
    )
    return [row["chunk_id"] for row in found]

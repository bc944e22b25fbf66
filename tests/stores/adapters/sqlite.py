"""sqlite-vec as its users see it."""

import contextlib
import json

import pysqlite3
import sqlite_vec

from tests.stores.adapters.seen import Seen

BY_WORDS = """
SELECT chunk_id FROM chunks_words JOIN chunks ON chunks.rowid = chunks_words.rowid
WHERE chunks_words MATCH :words ORDER BY rank LIMIT 100
"""
HYBRID = """
WITH words AS (
  SELECT rowid, rank AS distance FROM chunks_words WHERE chunks_words MATCH :words ORDER BY rank LIMIT 100
), near AS (
  SELECT rowid, distance FROM chunks_vectors WHERE embedding MATCH :vector AND k = 100
)
SELECT chunk_id FROM chunks JOIN (
  SELECT rowid, row_number() OVER (ORDER BY distance) AS place FROM words
  UNION ALL SELECT rowid, row_number() OVER (ORDER BY distance) AS place FROM near
) USING (rowid) GROUP BY chunk_id ORDER BY sum(1.0 / (60 + place)) DESC LIMIT 10
"""


@contextlib.contextmanager
def started():
    yield lambda folder: f"sqlite:{folder}/store.db"


@contextlib.contextmanager
def opened(to):
    with contextlib.closing(pysqlite3.connect(to.removeprefix("sqlite:"))) as db:
        db.enable_load_extension(True)
        sqlite_vec.load(db)
        yield db


def rows(to, collection):
    with opened(to) as db:
        found = db.execute(
            "SELECT chunk_id, text, source_name, chunk_index, section_path, doc_title "
            f'FROM "{collection}" JOIN "{collection}_vectors" USING (rowid)'
        )
        return {
            key: Seen(text, name, at, json.loads(path), title) for key, text, name, at, path, title in found
        }


def nearest(to, collection, vector, most, source=None):
    among = (
        ""
        if source is None
        else f'AND rowid IN (SELECT rowid FROM "{collection}" WHERE source_name = :source)'
    )
    with opened(to) as db:
        found = db.execute(
            f'SELECT chunk_id FROM "{collection}" JOIN (SELECT rowid, distance FROM "{collection}_vectors" '
            f"WHERE embedding MATCH :vector AND k = {most} {among}) USING (rowid) ORDER BY distance",
            {"vector": vector.tobytes(), "source": source},
        )
        return [row[0] for row in found]


def _ids(to, query, collection, **values):
    with opened(to) as db:
        return [row[0] for row in db.execute(query.replace("chunks", collection), values)]


def by_words(to, collection, words, most):
    return _ids(to, BY_WORDS, collection, words=words)[:most]


def hybrid(to, collection, question, most):
    vector = question.vector.tobytes()
    return _ids(to, HYBRID, collection, words=question.words, vector=vector)[:most]

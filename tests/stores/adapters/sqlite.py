"""sqlite-vec as its users see it."""

import contextlib
import json

import pysqlite3
import sqlite_vec

from tests.stores.adapters.seen import Seen


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

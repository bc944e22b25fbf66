"""DuckDB as its users see it."""

from contextlib import closing, contextmanager

import duckdb

from tests.stores.adapters.seen import Seen


@contextmanager
def started():
    yield lambda folder: f"duckdb:{folder}/store.duckdb"


def _open(to):
    return closing(duckdb.connect(to.removeprefix("duckdb:"), read_only=True))


def rows(to, collection):
    with _open(to) as db:
        found = db.execute(
            f'SELECT chunk_id, text, source_name, chunk_index, section_path, doc_title FROM "{collection}"'
        )
        return {row[0]: Seen(*row[1:]) for row in found.fetchall()}


def nearest(to, collection, vector, most, source=None):
    where = "" if source is None else "WHERE source_name = $source"
    with _open(to) as db:
        found = db.execute(
            f'SELECT chunk_id FROM "{collection}" {where} '
            f"ORDER BY array_cosine_distance(embedding, $vector::FLOAT[{len(vector)}]) LIMIT {most}",
            {"vector": vector.tolist()} | ({} if source is None else {"source": source}),
        )
        return [row[0] for row in found.fetchall()]

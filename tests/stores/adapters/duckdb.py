"""DuckDB as its users see it."""

from contextlib import closing, contextmanager

import duckdb

from tests.stores.adapters.seen import Seen

BY_TERMS = """
SELECT chunk_id, sum(value * weight) AS score
FROM (SELECT chunk_id, unnest(sparse_indices) AS term, unnest(sparse_values) AS value FROM chunks)
JOIN (SELECT unnest($terms::UINTEGER[]) AS term, unnest($weights::FLOAT[]) AS weight) USING (term)
GROUP BY chunk_id ORDER BY score DESC
"""
HYBRID = """
WITH words AS (
  SELECT chunk_id, sum(value * weight) AS score
  FROM (SELECT chunk_id, unnest(sparse_indices) AS term, unnest(sparse_values) AS value FROM chunks)
  JOIN (SELECT unnest($terms::UINTEGER[]) AS term, unnest($weights::FLOAT[]) AS weight) USING (term)
  GROUP BY chunk_id ORDER BY score DESC LIMIT 100
), near AS (
  SELECT chunk_id, array_cosine_distance(embedding, $vector::FLOAT[384]) AS distance
  FROM chunks ORDER BY distance LIMIT 100
)
SELECT chunk_id FROM (
  SELECT chunk_id, row_number() OVER (ORDER BY score DESC) AS rank FROM words
  UNION ALL SELECT chunk_id, row_number() OVER (ORDER BY distance) AS rank FROM near
) GROUP BY chunk_id ORDER BY sum(1 / (60 + rank)) DESC LIMIT 10
"""


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


def _asked(terms):
    return {"terms": list(terms), "weights": list(terms.values())}


def by_terms(to, collection, terms, most):
    with _open(to) as db:
        found = db.execute(BY_TERMS.replace("chunks", collection), _asked(terms))
        return [row[0] for row in found.fetchall()[:most]]


def hybrid(to, collection, question, most):
    asked = {**_asked(question.terms), "vector": question.vector.tolist()}
    with _open(to) as db:
        query = HYBRID.replace("chunks", collection).replace("384", str(len(question.vector)))
        found = db.execute(query, asked)
        return [row[0] for row in found.fetchall()[:most]]

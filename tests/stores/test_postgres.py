"""What PostgreSQL's loader does besides the contract: types, indexes, views and grants that stay."""

import datetime

import psycopg
import pyarrow as pa
import pytest

from tests.stores.adapters import postgres
from tests.stores.history import at, rows
from transforms.loaders.address import parse_address
from transforms.loaders.load import load
from transforms.loaders.pgcopy import HEADER, TRAILER, column_type, encoded
from transforms.loaders.protocol import Index, Target
from transforms.loaders.registry import open_loader
from transforms.loaders.settings import LoadSettings
from transforms.model.errors import ConfigError


@pytest.fixture(scope="module")
def new_address():
    with postgres.started() as address:
        yield address


@pytest.fixture
def to(new_address, tmp_path):
    return new_address(tmp_path)


VALUES = {
    "text": (pa.string(), ["a", None, "äö'\"\\\t\n"]),
    "small": (pa.int8(), [-128, None, 127]),
    "whole": (pa.int32(), [-(2**31), None, 2**31 - 1]),
    "large": (pa.int64(), [-(2**63), None, 2**63 - 1]),
    "part": (pa.float32(), [-0.5, None, 1.5]),
    "day": (pa.date32(), [datetime.date(1969, 12, 31), None, datetime.date(2026, 11, 30)]),
    "bytes": (pa.binary(), [b"\0\xff", None, b""]),
    "texts": (pa.list_(pa.string()), [["a", "ä"], None, []]),
    "smalls": (pa.list_(pa.int8()), [[-1, 2], None, []]),
    "parts": (pa.list_(pa.float32()), [[0.5], None, []]),
}


@pytest.mark.parametrize("first", [0, 1])
def test_values_of_every_type_come_back_as_they_were(to, first):
    batch = pa.record_batch(
        [pa.array(values, kind) for kind, values in VALUES.values()], names=list(VALUES)
    ).slice(first)
    with psycopg.connect(to) as db:
        columns = ", ".join(f"{name} {column_type(kind)}" for name, (kind, _) in VALUES.items())
        db.execute(f"CREATE TABLE kinds ({columns})")
        with db.cursor().copy("COPY kinds FROM STDIN (FORMAT binary)") as copy:
            for part in (HEADER, encoded(batch), TRAILER):
                copy.write(part)
        found = db.execute("SELECT * FROM kinds").fetchall()
    assert found == list(zip(*(values[first:] for _, values in VALUES.values()), strict=True))


def test_sparse_vectors_have_their_places_modulo_the_greatest_dimension(to):
    target = Target("chunks", "id", "v", (), 1, "cosine", "m@1", sparse="words")
    columns = {
        "id": list("abc"),
        "v": [[1.0]] * 3,
        "words_indices": [[0, 7, 4_000_000_001], [], [3, 1_000_000_003]],
        "words_values": [[0.5, 1.0, 2.0], [], [1.0, 2.0]],
    }
    arrays = [pa.array(columns[field.name], field.type) for field in target.schema]
    loader = open_loader(parse_address(to))
    loader.replace(target, iter([pa.RecordBatch.from_arrays(arrays, schema=target.schema)]))
    loader.close()
    with psycopg.connect(to) as db:
        found = db.execute("SELECT words::text FROM chunks ORDER BY id").fetchall()
    assert [text for (text,) in found] == [
        "{1:0.5,2:2,8:1}/1000000000",
        "{}/1000000000",
        "{4:3}/1000000000",
    ]


def test_an_index_of_words_is_built_once_if_it_is_asked_for(to, table):
    for number in (1, 2, 1):
        load(at(table, number), LoadSettings(to=to, full_text=True))
    with psycopg.connect(to) as db:
        found = db.execute("SELECT indexdef FROM pg_indexes WHERE indexdef LIKE '%USING gin%'").fetchall()
    assert len(found) == 1
    assert "to_tsvector('simple'::regconfig, text)" in found[0][0]


def test_hnsw_is_built_and_found_by_its_metric(to, table):
    load(at(table, 1), LoadSettings(to=to, index={"kind": "hnsw", "m": 8}, metric="dot"))
    with psycopg.connect(to) as db:
        (made,) = db.execute("SELECT indexdef FROM pg_indexes WHERE indexdef LIKE '%hnsw%'").fetchone()
    assert "vector_ip_ops" in made
    assert "m='8'" in made
    with pytest.raises(ConfigError, match="compares by dot, and cosine is wanted"):
        load(at(table, 1), LoadSettings(to=to, index={"kind": "hnsw", "m": 8}))


@pytest.mark.parametrize(("dimension", "kind"), [(2000, "vector(2000)"), (2001, "halfvec(2001)")])
def test_vectors_that_are_too_long_for_hnsw_are_halves(to, dimension, kind):
    target = Target("chunks", "id", "v", (), dimension, "cosine", "m@1", Index("hnsw"))
    batch = pa.RecordBatch.from_arrays(
        [pa.array(["a", "b"]), pa.array([[1.0] * dimension, [0.5] * dimension], target.schema.types[1])],
        schema=target.schema,
    )
    loader = open_loader(parse_address(to))
    loader.replace(target, iter([batch]))
    loader.finish(target)
    assert loader.describe("chunks").dimension == dimension
    assert loader.describe("chunks").metric == "cosine"
    with psycopg.connect(to) as db:
        query = "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attname = 'v'"
        assert db.execute(query).fetchone() == (kind,)
        assert db.execute("SELECT id FROM chunks ORDER BY (v::real[])[1]").fetchall() == [("b",), ("a",)]
    loader.close()


def test_a_full_load_leaves_grants_indexes_and_views_of_a_table_that_stays(to, table):
    load(at(table, 1), LoadSettings(to=to))
    with psycopg.connect(to, autocommit=True) as db:
        db.execute("CREATE INDEX by_doc ON chunks (doc_id)")
        db.execute("CREATE VIEW mine AS SELECT chunk_id FROM chunks")
        db.execute("GRANT SELECT ON chunks TO PUBLIC")
    from transforms.loaders.plan import Wishes

    load(at(table, 2), LoadSettings(to=to), Wishes(full=True))
    with psycopg.connect(to) as db:
        assert db.execute("SELECT count(*) FROM mine").fetchone() == (len(rows(table, 2)),)
        assert db.execute("SELECT count(*) FROM pg_indexes WHERE indexname = 'by_doc'").fetchone() == (1,)
        assert db.execute("SELECT has_table_privilege('public', 'chunks', 'SELECT')").fetchone() == (True,)

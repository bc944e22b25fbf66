"""Sparse vectors in exports: they arrive as they are, stay out where they are not wanted, and are checked."""

import csv
import importlib.util
import io
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.stores.exports.conftest import row
from tests.stores.exports.test_engines import database, needs  # noqa: F401 - a fixture
from tests.stores.exports.test_history import exported
from tests.stores.exports.test_validators import edited, edited_line, one, put, rewritten, with_values
from tests.stores.history import at, rows, scores, weights
from transforms.exports.export import Wishes, check, export
from transforms.exports.registry import NAMES, find_profile
from transforms.model.errors import ConfigError

ENCODER = "bm25@1-test"
FOLDED = 1_000_000_000


def lines(folder, pattern):
    return [
        json.loads(line) for path in sorted(folder.glob(pattern)) for line in path.read_text().splitlines()
    ]


def lists(found):
    return None if found is None else dict(zip(found["indices"], found["values"], strict=True))


def pinecone(folder):
    imported = [
        each for path in folder.glob("import/*/*.parquet") for each in pq.read_table(path).to_pylist()
    ]
    sent = [
        each for path in folder.glob("upserts/*.json") for each in json.loads(path.read_text())["vectors"]
    ]
    return {each["id"]: lists(each.get("sparse_values")) for each in [*imported, *sent]}


def milvus(folder):
    found = [each for path in folder.glob("import/*.parquet") for each in pq.read_table(path).to_pylist()]
    return {each["chunk_id"]: json.loads(each["sparse"]) for each in found}


def vertex(folder):
    return {
        each["id"]: each.get("sparse_embedding")
        and dict(
            zip(each["sparse_embedding"]["dimensions"], each["sparse_embedding"]["values"], strict=True)
        )
        for each in lines(folder, "batch_root/*.json")
    }


def opensearch(folder):
    found = iter(lines(folder, "upserts/*.ndjson"))
    return {action["index"]["_id"]: next(found).get("sparse") for action in found}


def vespa(folder):
    found = [each for each in lines(folder, "upserts/*.jsonl") if "put" in each]
    return {
        each["put"].rpartition("::")[2]: each["fields"].get("sparse", {}).get("cells") for each in found
    }


def turbopuffer(folder):
    bodies = [json.loads(path.read_text()) for path in folder.glob("upserts/*.json")]
    return {each["id"]: each.get("sparse") for body in bodies for each in body["upsert_rows"]}


def pgcopy(folder):
    texts = [path.read_bytes().decode() for path in folder.glob("upserts/*.csv")]
    found = [each for text in texts for each in csv.reader(io.StringIO(text, newline=""), strict=True)]
    return {each[0]: sparsevec(each[2]) for each in found}


def sparsevec(text):
    pairs = re.fullmatch(rf"\{{(.*)\}}/{FOLDED}", text)[1]
    return {
        int(place) - 1: float(value)
        for place, _, value in (pair.partition(":") for pair in pairs.split(",") if pair)
    }


def columns(pattern, identifier):
    def read(folder):
        found = [each for path in folder.glob(pattern) for each in pq.read_table(path).to_pylist()]
        return {
            each[identifier]: each["sparse_indices"]
            and dict(zip(each["sparse_indices"], each["sparse_values"], strict=True))
            for each in found
        }

    return read


FORMS = {
    "bigquery": columns("upserts/*.parquet", "chunk_id"),
    "delta": columns("delta/chunks/*/*.parquet", "chunk_id"),
    "milvus": milvus,
    "opensearch": opensearch,
    "pgcopy": pgcopy,
    "pinecone": pinecone,
    "snowflake": columns("upserts/*.parquet", "chunk_id"),
    "turbopuffer": turbopuffer,
    "vdf": columns("vdf/chunks/*.parquet", "id"),
    "vertex": vertex,
    "vespa": vespa,
}
WITHOUT_TERMS = {"milvus": {0: np.float32(2.0**-126)}}
"""Where a vector cannot be left out."""


def read(profile, folder):
    """The sparse vectors by id, of 32-bit floats whatever text they went through; nothing is an empty one."""
    return {
        key: {int(term): np.float32(value) for term, value in (found or {}).items()}
        for key, found in FORMS[profile](folder).items()
    }


def of_table(profile, indices, values):
    if not indices:
        return WITHOUT_TERMS.get(profile, {})
    kept = [index % FOLDED for index in indices] if profile == "pgcopy" else indices
    return {index: np.float32(value) for index, value in zip(kept, values, strict=True)}


HARD = {
    "several": ([0, 7, 4_294_967_294], [1.5, 1e-5, 16_777_216.0]),
    "one": ([3_000_000_005], [0.1]),
    "no terms": ([], []),
    "no vector": (None, None),
}


@pytest.mark.parametrize("profile", FORMS)
def test_sparse_vectors_arrive_as_they_are(profile, table_of, tmp_path):
    needs("deltalake")
    given = [row(key, sparse_indices=pair[0], sparse_values=pair[1]) for key, pair in HARD.items()]
    exported(table_of(given, sparse=ENCODER), profile, tmp_path / "out")
    assert read(profile, tmp_path / "out") == {key: of_table(profile, *pair) for key, pair in HARD.items()}
    assert list(check(find_profile(profile), str(tmp_path / "out"))) == []
    said = json.loads((tmp_path / "out/export.json").read_text())
    assert said["sparse"] == ENCODER
    assert f"Sparse vectors by {ENCODER} go along" in (tmp_path / "out/README.md").read_text()


@pytest.mark.parametrize("profile", sorted(set(FORMS) - {"delta", "vdf"}))
def test_an_older_export_and_the_changes_have_the_sparse_vectors_of_the_newer_one(profile, table, tmp_path):
    at(table, 1)
    exported(table, profile, tmp_path / "old")
    at(table, 3)
    exported(table, profile, tmp_path / "changes", since=1)
    assert list(check(find_profile(profile), str(tmp_path / "changes"))) == []
    expected = {
        key: of_table(profile, found["sparse_indices"], found["sparse_values"])
        for key, found in rows(table, 3).items()
    }
    both = read(profile, tmp_path / "old") | read(profile, tmp_path / "changes")
    assert {key: both[key] for key in expected} == expected


@pytest.mark.parametrize("profile", sorted(set(NAMES) - {"delta"}))
def test_a_table_without_sparse_vectors_and_a_wish_for_none_give_the_same_files(
    profile, table_of, tmp_path
):
    def contents(folder):
        # Without those that say when the snapshot was published.
        paths = [path for path in folder.rglob("*.*") if path.name not in {"export.json", "VDF_META.json"}]
        return {path.name: path.read_bytes() for path in paths if path.name != "README.md"}

    with_them = table_of([row("a", sparse_indices=[1], sparse_values=[1.0])], sparse=ENCODER)
    exported(with_them, profile, tmp_path / "out", sparse=False)
    unwanted = contents(tmp_path / "out")
    shutil.rmtree(with_them)
    exported(table_of([row("a")]), profile, tmp_path / "out")
    assert contents(tmp_path / "out") == unwanted
    assert unwanted
    assert b"parse" not in b"".join(unwanted.values())


def test_the_tables_own_files_have_sparse_vectors_or_not(table_of, tmp_path):
    needs("deltalake")
    with pytest.raises(ConfigError, match=r"takes the table's files as they are.*leave --no-sparse out"):
        exported(table_of([row("a")]), "delta", tmp_path / "out", sparse=False)


BAD = {
    "sparse_uneven": ([1, 2], [1.0]),
    "sparse_order": ([2, 1], [1.0, 1.0]),
    "sparse_value": ([1, 2], [1.0, 0.0]),
    "sparse_too_long": (list(range(1_001)), [1.0] * 1_001),
}


@pytest.mark.parametrize("reason", BAD)
def test_a_row_whose_sparse_vector_a_store_refuses_is_left_out_and_named(reason, table_of, tmp_path):
    good = row("good", sparse_indices=[5, 6], sparse_values=[0.5, 0.5])
    bad = row("bad", sparse_indices=BAD[reason][0], sparse_values=BAD[reason][1])
    # In this order the last index of one row is above the first of the next.
    table = table_of([good, bad, row("last", sparse_indices=[1], sparse_values=[2.0])], sparse=ENCODER)
    wishes = Wishes(str(tmp_path / "out"), max_refused_share=1.0)
    assert export(str(table), find_profile("pinecone"), wishes).refused == {reason: 1}
    assert read("pinecone", tmp_path / "out").keys() == {"good", "last"}


def test_an_index_that_milvus_keeps_for_itself_is_refused(table_of, tmp_path):
    table = table_of([row("a", sparse_indices=[2**32 - 1], sparse_values=[1.0])], sparse=ENCODER)
    wishes = Wishes(str(tmp_path / "out"), max_refused_share=1.0)
    assert export(str(table), find_profile("milvus"), wishes).refused == {"sparse_index": 1}


def test_changes_across_encoders_are_refused_unless_sparse_vectors_are_left_out(table_of, tmp_path):
    given = [row("a", sparse_indices=[1], sparse_values=[1.0])]
    table = table_of(given, [given[0] | {"changed_in": 2}], sparse=["bm25@1-one", "splade@1-two"])
    with pytest.raises(ConfigError, match="sparse vectors by bm25@1-one, snapshot 2 by splade@1-two"):
        exported(table, "vertex", tmp_path / "out", since=1)
    exported(table, "vertex", tmp_path / "out", since=1, sparse=False)


FLOATS, UINTS, TEXT = pa.list_(pa.float32()), pa.list_(pa.uint32()), pa.string()
LISTS = [
    {"indices": [1], "values": [0.0]},
    {"indices": [2, 1], "values": [1.0, 1.0]},
    {"indices": [1], "values": [1.0, 2.0]},
    {"indices": [-1], "values": [1.0]},
    {"indices": [2**32], "values": [1.0]},
    {"indices": [], "values": []},
    {"values": [1.0]},
    [1.0],
]
MAPS = [{"1": 0.0}, {"1": -1.0}, {"2": 1.0, "1": 1.0}, {"x": 1.0}, {"4294967296": 1.0}, {}, [1.0]]
STRUCT = pa.struct({"indices": UINTS, "values": FLOATS})


def dimensions(bad):
    if not isinstance(bad, dict):
        return bad
    return {{"indices": "dimensions"}.get(key, key): value for key, value in bad.items()}


BROKEN = [
    *(
        ("vertex", edited_line("batch_root/*.json", put("sparse_embedding", dimensions(bad))))
        for bad in LISTS
    ),
    *(("opensearch", edited_line("upserts/*.ndjson", put("sparse", bad), 1)) for bad in MAPS),
    *(
        (
            "turbopuffer",
            edited("upserts/*.json", lambda body, bad=bad: put("sparse", bad)(body["upsert_rows"][0])),
        )
        for bad in MAPS
    ),
    *(
        (
            "vespa",
            edited_line(
                "upserts/*.jsonl", lambda line, bad=bad: put("sparse", {"cells": bad})(line["fields"])
            ),
        )
        for bad in MAPS
    ),
    *(
        ("milvus", rewritten("import/*.parquet", with_values("sparse", TEXT, [json.dumps(bad)] * 2)))
        for bad in [*MAPS, *LISTS]
    ),
    *(
        ("pinecone", rewritten("import/*/*.parquet", with_values("sparse_values", STRUCT, [bad] * 2)))
        for bad in [*LISTS[:3], {"indices": list(range(1_001)), "values": [1.0] * 1_001}]
    ),
    *(
        (profile, rewritten(pattern, with_values("sparse_values", FLOATS, [values, [1.0]])))
        for profile, pattern in (
            ("bigquery", "upserts/*.parquet"),
            ("snowflake", "upserts/*.parquet"),
            ("vdf", "vdf/chunks/*.parquet"),
        )
        for values in ([0.0, 1.0], [1.0], None)
    ),
    *(
        ("pgcopy", lambda folder, bad=bad: replace_sparsevec(folder, bad))
        for bad in ["{0:1}/9", "{2:1,1:1}/9", "{1:0}/9", "{1:x}/9", "{10:1}/9", "{1:1,}/9"]
    ),
]


def replace_sparsevec(folder, text):
    path = one(folder, "upserts/*.csv")
    held = path.read_text()
    changed = re.sub(r'"\{[^"]*\}/\d+"', f'"{text}"', held, count=1)
    assert changed != held
    path.write_text(changed)


@pytest.mark.parametrize(
    ("profile", "breaking"),
    BROKEN,
    ids=[f"{profile}-{number}" for number, (profile, _) in enumerate(BROKEN)],
)
def test_a_broken_sparse_vector_is_named(profile, breaking, table_of, tmp_path):
    given = [
        row("a", sparse_indices=[1, 2], sparse_values=[0.5, 0.25]),
        row("b", sparse_indices=[3], sparse_values=[1.0]),
    ]
    exported(table_of(given, sparse=ENCODER), profile, tmp_path / "out")
    assert list(check(find_profile(profile), str(tmp_path / "out"))) == []
    breaking(tmp_path / "out")
    assert {fault.rule for fault in check(find_profile(profile), str(tmp_path / "out"))} == {"sparse"}


def test_postgresql_orders_by_the_inner_product(database, table, tmp_path):  # noqa: F811 - the fixture
    load, ask = database
    at(table, 2)
    exported(table, "pgcopy", tmp_path / "out", name="hybrid")
    load(tmp_path / "out", "hybrid")
    found = rows(table, 2)
    for each in list(found.values())[::40]:
        terms = weights(table, 2, each["sparse_indices"])
        true = scores(found, terms)
        question = dict(sorted((term % FOLDED + 1, weight) for term, weight in terms.items()))
        text = f"{{{','.join(f'{place}:{weight}' for place, weight in question.items())}}}/{FOLDED}"
        ids = [key for (key,) in ask(f"SELECT chunk_id FROM hybrid ORDER BY sparse <#> '{text}' LIMIT 5")]
        assert [true[key] for key in ids] == pytest.approx(
            sorted(true.values(), reverse=True)[:5], rel=1e-5
        )


def test_polars_reads_ids_above_the_largest_number_with_a_sign_from_delta(table_of, tmp_path):
    needs("deltalake")
    import polars as pl

    exported(
        table_of([row("a", sparse_indices=[7, 2**32 - 2], sparse_values=[1.0, 2.0])], sparse=ENCODER),
        "delta",
        tmp_path / "out",
    )
    found = pl.read_delta(str(tmp_path / "out/delta")).to_dicts()
    assert [each["sparse_indices"] for each in found] == [[7, 2**32 - 2]]


@pytest.mark.parametrize("profile", ["bigquery", "snowflake"])
def test_sql_stores_get_indices_with_a_sign(profile, table_of, tmp_path):
    exported(
        table_of([row("a", sparse_indices=[2**32 - 2], sparse_values=[1.0])], sparse=ENCODER),
        profile,
        tmp_path / "out",
    )
    found = pq.read_table(one(tmp_path / "out", "upserts/*.parquet"))
    assert found.schema.field("sparse_indices").type.value_type == pa.int64()


def test_the_writer_of_milvus_takes_the_vectors(table, tmp_path):
    needs("pymilvus")
    # The package around it asks for clients of object stores.
    path = Path(importlib.util.find_spec("pymilvus").origin).parent / "bulk_writer/validators.py"
    spec = importlib.util.spec_from_file_location("validators", path)
    writer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(writer)
    exported(table, "milvus", tmp_path / "out")
    found = milvus(tmp_path / "out")
    assert found
    for each in found.values():
        writer.sparse_vector_validator({int(term): float(value) for term, value in each.items()})


def test_definitions_name_the_sparse_vector(table, tmp_path):
    def written(profile, name):
        exported(table, profile, tmp_path / profile)
        return (tmp_path / profile / name).read_text()

    collection = json.loads(written("milvus", "collection.json"))
    assert {"fieldName": "sparse", "dataType": "SparseFloatVector"} in collection["schema"]["fields"]
    assert collection["indexParams"][1]["metricType"] == "IP"
    for name in ("index.opensearch.json", "index.elasticsearch.json"):
        fields = json.loads(written("opensearch", name))["mappings"]["properties"]
        assert fields["sparse"] == {"type": "rank_features"}
    schema = written("vespa", "schemas/chunks.sd")
    assert "field sparse type tensor<float>(term{})" in schema
    assert "reciprocal_rank_fusion(closeness(field, embedding), words)" in schema
    body = json.loads(written("turbopuffer", "upserts/000001.json"))
    assert body["schema"]["sparse"] == {"type": "{}f16", "sparse_knn": {"distance_metric": "dot_product"}}
    assert "`sparse_indices` ARRAY<INT64>, `sparse_values` ARRAY<FLOAT64>" in written(
        "bigquery", "load.sql"
    )


def test_a_readme_says_how_to_load_what_is_there(table_of, tmp_path):
    table = table_of([row("a")], [row("a", changed_in=2)])
    exported(table, "pinecone", tmp_path / "whole")
    exported(table, "pinecone", tmp_path / "changes", since=1)
    whole, changes = ((tmp_path / name / "README.md").read_text() for name in ("whole", "changes"))
    assert f"with the URI {tmp_path}/whole/import" in whole
    assert "upsert" not in whole.split("## Files")[0]
    assert "/import" not in changes
    assert "POST /vectors/delete" in changes

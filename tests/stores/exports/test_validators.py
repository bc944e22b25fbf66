"""Each published rule, broken in a good export: the validator names it."""

import json
import math
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.stores.exports.conftest import row
from transforms.exports.export import Wishes, check, export
from transforms.exports.registry import NAMES, find_profile
from transforms.model.errors import ConfigError

GOOD = [row("a", doc_title="A"), row("b", doc_title="B"), row("c")]
CHANGED = [row("a", doc_title="A2", changed_in=2), row("c"), row("d", changed_in=2)]


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A folder a profile and kind of export, made once: ``good(profile, changes)``."""
    made = {}

    def folder(profile, changes, table_of):
        if (profile, changes) not in made:
            since = 1 if changes else None
            to = tmp_path_factory.mktemp("good") / "out"
            export(str(table_of(GOOD, CHANGED)), find_profile(profile), Wishes(str(to), since=since))
            made[profile, changes] = to
        return made[profile, changes]

    return folder


def one(folder, pattern):
    (path,) = folder.glob(pattern)
    return path


def edited(pattern, change):
    """Change the JSON value of a file in place."""

    def breaking(folder):
        path = one(folder, pattern)
        value = json.loads(path.read_text())
        changed = change(value)
        path.write_text(json.dumps(value if changed is None else changed))

    return breaking


def edited_line(pattern, change, number=0):
    """Change the JSON value of a line in place."""

    def breaking(folder):
        path = one(folder, pattern)
        lines = path.read_text().splitlines()
        value = json.loads(lines[number])
        change(value)
        lines[number] = json.dumps(value)
        path.write_text("\n".join(lines) + "\n")

    return breaking


def replaced(pattern, old, new):
    def breaking(folder):
        path = one(folder, pattern)
        text = path.read_bytes()
        assert old in text
        path.write_bytes(text.replace(old, new))

    return breaking


def rewritten(pattern, change, *, store_schema=False):
    """Change the table of a Parquet file; with ``store_schema`` Arrow's own types stand in it, too."""

    def breaking(folder):
        path = one(folder, pattern)
        pq.write_table(change(pq.read_table(path)), path, store_schema=store_schema)

    return breaking


def with_values(name, kind, values):
    """A table with other values in one column."""
    return lambda table: table.set_column(table.column_names.index(name), name, pa.array(values, kind))


def added(name, data=b"x"):
    def breaking(folder):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)

    return breaking


def many(name, count, data=b""):
    def breaking(folder):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        for number in range(count):
            (folder / name.format(number)).write_bytes(data)

    return breaking


def many_namespaces(folder):
    for number in range(100):
        added(f"import/n{number}/part.parquet")(folder)


def larger(pattern, size):
    """Blanks at the end of a JSON text, which mean nothing but size."""

    def breaking(folder):
        with one(folder, pattern).open("ab") as file:
            file.write(b" " * size)

    return breaking


def put(key, value):
    return lambda record: record.__setitem__(key, value)


FLOATS, TEXT = pa.list_(pa.float32()), pa.string()
VECTORS = [[1.0, 0.5], [1.0, 0.5], [1.0, 0.5]]

PINECONE = "import/chunks/*.parquet"
WHOLE = {
    "pinecone": [
        ("layout", added("import/notes.txt")),
        ("layout", lambda folder: one(folder, PINECONE).rename(folder / "import/part.parquet")),
        ("parquet", added("import/chunks/bad.parquet")),
        ("columns", rewritten(PINECONE, lambda table: table.drop_columns("metadata"))),
        ("columns", rewritten(PINECONE, lambda table: table.append_column("text", [["x"] * 3]))),
        ("columns", rewritten(PINECONE, with_values("values", pa.list_(pa.float64()), VECTORS))),
        ("id", rewritten(PINECONE, with_values("id", TEXT, ["é", "b", "c"]))),
        ("id", rewritten(PINECONE, with_values("id", TEXT, ["x" * 513, "b", "c"]))),
        ("id", rewritten(PINECONE, with_values("id", TEXT, [None, "b", "c"]))),
        ("id_twice", rewritten(PINECONE, with_values("id", TEXT, ["b", "b", "c"]))),
        ("vector", rewritten(PINECONE, with_values("values", FLOATS, [[1.0], *VECTORS[1:]]))),
        ("vector", rewritten(PINECONE, with_values("values", FLOATS, [[0.0, 0.0], *VECTORS[1:]]))),
        ("vector", rewritten(PINECONE, with_values("values", FLOATS, [[math.nan, 1.0], *VECTORS[1:]]))),
        ("vector", rewritten(PINECONE, with_values("values", FLOATS, [None, *VECTORS[1:]]))),
        ("vector", rewritten(PINECONE, with_values("values", FLOATS, [[1.0] * 20_001] * 3))),
        ("metadata", rewritten(PINECONE, with_values("metadata", TEXT, ["{", "{}", "{}"]))),
        ("metadata", rewritten(PINECONE, with_values("metadata", TEXT, ["[]", "{}", "{}"]))),
        ("metadata", rewritten(PINECONE, with_values("metadata", TEXT, ['{"a":null}', "{}", "{}"]))),
        ("metadata", rewritten(PINECONE, with_values("metadata", TEXT, ['{"a":{}}', "{}", "{}"]))),
        ("metadata", rewritten(PINECONE, with_values("metadata", TEXT, ['{"a":[1]}', "{}", "{}"]))),
        ("metadata", rewritten(PINECONE, with_values("metadata", TEXT, ['{"$a":1}', "{}", "{}"]))),
        (
            "size",
            rewritten(
                PINECONE, with_values("metadata", TEXT, ['{"a":"' + "x" * 40_960 + '"}', "{}", "{}"])
            ),
        ),
        ("namespaces", many_namespaces),
    ],
    "milvus": [
        ("layout", added("import/part.csv")),
        ("definition", added("collection.json", b"{}")),
        ("definition", added("collection.json")),
        ("files", many("import/{}.parquet", 1_024)),
        ("columns", rewritten("import/*.parquet", lambda table: table.append_column("more", [["x"] * 3]))),
        ("columns", rewritten("import/*.parquet", lambda table: table.drop_columns("text"))),
        ("columns", rewritten("import/*.parquet", with_values("chunk_index", pa.int64(), [0, 0, 0]))),
        (
            "columns",
            rewritten(
                "import/*.parquet",
                with_values("embedding", pa.list_(pa.float32(), 2), VECTORS),
                store_schema=True,
            ),
        ),
        ("size", rewritten("import/*.parquet", with_values("text", TEXT, ["x" * 65_536, "", ""]))),
        ("null", rewritten("import/*.parquet", with_values("text", TEXT, [None, "", ""]))),
        ("id_twice", rewritten("import/*.parquet", with_values("chunk_id", TEXT, ["d", "d", "c"]))),
        ("metadata", rewritten("import/*.parquet", with_values("$meta", TEXT, ["[]", "{}", "{}"]))),
        ("metadata", rewritten("import/*.parquet", with_values("$meta", TEXT, ['{"text":1}', "{}", "{}"]))),
        ("vector", rewritten("import/*.parquet", with_values("embedding", FLOATS, [[1.0] * 32_769] * 3))),
    ],
    "vertex": [
        ("layout", added("batch_root/more/part.json")),
        ("layout", added("batch_root/README.md")),
        ("layout", added("batch_root/part.json.gz")),
        ("files", many("batch_root/{}.json", 5_000)),
        ("json", replaced("batch_root/*.json", b"0.5", b"NaN")),
        ("json", added("batch_root/part.json", b"\xff\n")),
        ("vector", edited_line("batch_root/*.json", put("embedding", [1.0, "x"]))),
        ("vector", edited_line("batch_root/*.json", put("embedding", [1.0]))),
        ("id", edited_line("batch_root/*.json", put("id", 7))),
        ("id_twice", edited_line("batch_root/*.json", put("id", "c"))),
        ("restricts", edited_line("batch_root/*.json", put("restricts", [{"allow": ["x"]}]))),
        (
            "restricts",
            edited_line("batch_root/*.json", put("restricts", [{"namespace": "n", "allow": "x"}])),
        ),
        (
            "restricts",
            edited_line("batch_root/*.json", put("restricts", [{"namespace": "n", "only": ["x"]}])),
        ),
        ("restricts", edited_line("batch_root/*.json", put("numeric_restricts", [{"namespace": "n"}]))),
        ("restricts", edited_line("batch_root/*.json", put("restricts", 7))),
    ],
    "azure-search": [
        ("layout", added("upserts/notes.txt")),
        ("json", added("upserts/000002.json")),
        ("file_size", larger("upserts/*.json", 16_000_000)),
        (
            "rows",
            edited(
                "upserts/*.json", lambda body: body["value"].extend([{"@search.action": "delete"}] * 1_000)
            ),
        ),
        (
            "action",
            edited("upserts/*.json", lambda body: put("@search.action", "remove")(body["value"][0])),
        ),
        ("id", edited("upserts/*.json", lambda body: put("chunk_id", "a b")(body["value"][0]))),
        ("id", edited("upserts/*.json", lambda body: put("chunk_id", "_a")(body["value"][0]))),
        ("id", edited("upserts/*.json", lambda body: put("chunk_id", "x" * 1_025)(body["value"][0]))),
        ("id_twice", edited("upserts/*.json", lambda body: put("chunk_id", "c")(body["value"][0]))),
        ("vector", edited("upserts/*.json", lambda body: put("embedding", [1])(body["value"][0]))),
        ("vector", edited("upserts/*.json", lambda body: put("embedding", [1] * 4_097)(body["value"][0]))),
        ("field", edited("upserts/*.json", lambda body: put("a-b", 1)(body["value"][0]))),
        ("field", edited("upserts/*.json", lambda body: put("azureSearchName", 1)(body["value"][0]))),
        ("size", edited("upserts/*.json", lambda body: put("doc_id", "x" * 32_767)(body["value"][0]))),
    ],
    "opensearch": [
        ("layout", added("upserts/part.txt")),
        ("file_size", larger("upserts/*.ndjson", 10 * 2**20)),
        ("end", added("upserts/2.ndjson", b'{"delete":{"_id":"x"}}')),
        ("json", added("upserts/2.ndjson", b'{"index":{"_id":"x"}}\nnot\n')),
        ("json", added("upserts/2.ndjson", b'{"index":{"_id":"x"}}\n')),
        ("action", added("upserts/2.ndjson", b'{"insert":{"_id":"x"}}\n{}\n')),
        ("id", replaced("upserts/*.ndjson", b'"_id":"a"', b'"_id":"' + b"x" * 513 + b'"')),
        ("id", replaced("upserts/*.ndjson", b'"_id":"a"', b'"_id":"' + "é".encode() * 257 + b'"')),
        ("id_twice", replaced("upserts/*.ndjson", b'"_id":"a"', b'"_id":"c"')),
        ("vector", edited_line("upserts/*.ndjson", put("embedding", [1] * 16_001), 1)),
        ("vector", edited_line("upserts/*.ndjson", put("embedding", [0, 0]), 1)),
    ],
    "s3-vectors": [
        ("layout", added("upserts/part.csv")),
        ("file_size", larger("upserts/*.json", 20 * 2**20)),
        ("rows", edited("upserts/*.json", lambda body: body * 200)),
        ("json", edited("upserts/*.json", lambda body: {"vectors": body})),
        ("id", edited("upserts/*.json", lambda body: put("key", "x" * 1_025)(body[0]))),
        ("id_twice", edited("upserts/*.json", lambda body: put("key", "c")(body[0]))),
        ("record", edited("upserts/*.json", lambda body: put("data", [1, 2])(body[0]))),
        ("vector", edited("upserts/*.json", lambda body: put("data", {"float32": [1] * 4_097})(body[0]))),
        ("metadata", edited("upserts/*.json", lambda body: put("metadata", {"a": None})(body[0]))),
        (
            "metadata",
            edited("upserts/*.json", lambda body: put("metadata", {str(n): 1 for n in range(51)})(body[0])),
        ),
        ("size", edited("upserts/*.json", lambda body: put("metadata", {"a": "x" * 2_048})(body[0]))),
        ("size", edited("upserts/*.json", lambda body: put("metadata", {"text": "x" * 40_960})(body[0]))),
    ],
    "turbopuffer": [
        ("layout", added("part.json")),
        ("json", edited("upserts/*.json", lambda body: {"rows": body["upsert_rows"]})),
        ("id", edited("upserts/*.json", lambda body: put("id", 7)(body["upsert_rows"][0]))),
        ("id", edited("upserts/*.json", lambda body: put("id", "x" * 65)(body["upsert_rows"][0]))),
        ("id_twice", edited("upserts/*.json", lambda body: put("id", "c")(body["upsert_rows"][0]))),
        ("vector", edited("upserts/*.json", lambda body: put("vector", [1])(body["upsert_rows"][0]))),
        (
            "vector",
            edited("upserts/*.json", lambda body: put("vector", [1] * 10_753)(body["upsert_rows"][0])),
        ),
        ("attributes", edited("upserts/*.json", lambda body: put("x" * 129, 1)(body["upsert_rows"][0]))),
        ("attributes", edited("upserts/*.json", lambda body: put("$a", 1)(body["upsert_rows"][0]))),
        ("attributes", edited("upserts/*.json", lambda body: put("a", {})(body["upsert_rows"][0]))),
        (
            "attributes",
            edited(
                "upserts/*.json",
                lambda body: body["upsert_rows"][0].update({f"a{n}": 1 for n in range(257)}),
            ),
        ),
        (
            "size",
            edited("upserts/*.json", lambda body: put("a", "x" * (8 * 2**20 + 1))(body["upsert_rows"][0])),
        ),
    ],
    "vespa": [
        ("layout", added("upserts/part.txt")),
        ("json", added("upserts/part.jsonl", b"not\n")),
        ("operation", added("upserts/part.jsonl", b'{"set":"id:a:b::c"}\n')),
        ("operation", added("upserts/part.jsonl", b'{"put":"id:a:b::c","remove":"id:a:b::c"}\n')),
        ("id", edited_line("upserts/*.jsonl", put("put", "id:a:b:c"))),
        ("id", edited_line("upserts/*.jsonl", put("put", "a"))),
        ("id_twice", edited_line("upserts/*.jsonl", put("put", "id:chunks:chunks::c"))),
        ("fields", edited_line("upserts/*.jsonl", lambda record: record.pop("fields"))),
        ("fields", edited_line("upserts/*.jsonl", lambda record: put("a-b", 1)(record["fields"]))),
        ("fields", edited_line("upserts/*.jsonl", lambda record: put("a", None)(record["fields"]))),
        ("character", edited_line("upserts/*.jsonl", lambda record: put("a", "\x01")(record["fields"]))),
        (
            "character",
            edited_line("upserts/*.jsonl", lambda record: put("a", ["\ufdd0"])(record["fields"])),
        ),
        (
            "vector",
            edited_line(
                "upserts/*.jsonl", lambda record: put("embedding", {"values": [1]})(record["fields"])
            ),
        ),
    ],
    "pgcopy": [
        ("layout", added("upserts/part.txt")),
        ("nul_character", replaced("upserts/*.csv", b"text", b"te\0t")),
        ("csv", replaced("upserts/*.csv", b"text", b"\xff")),
        ("csv", replaced("upserts/*.csv", b'"a"', b'"a"x')),
        ("columns", replaced("upserts/*.csv", b'"c","[1,0.5]"', b'"c","[1,0.5]",1')),
        ("vector", replaced("upserts/*.csv", b'"c","[1,0.5]"', b'"c","[1,NaN]"')),
        ("vector", replaced("upserts/*.csv", b'"c","[1,0.5]"', b'"c","[1]"')),
        ("vector", replaced("upserts/*.csv", b'"c","[1,0.5]"', b'"c","1"')),
        ("vector", replaced("upserts/*.csv", b'"[1,0.5]"', b'"[' + b"1," * 16_000 + b'1]"')),
        ("id", replaced("upserts/*.csv", b'"c"', b"")),
        ("id", replaced("upserts/*.csv", b'"c"', b'"' + b"x" * 2_693 + b'"')),
        ("id_twice", replaced("upserts/*.csv", b'"a"', b'"c"')),
    ],
    "vdf": [
        ("layout", lambda folder: (folder / "vdf/VDF_META.json").unlink()),
        ("json", added("vdf/VDF_META.json")),
        ("keys", edited("vdf/VDF_META.json", put("indexes", []))),
        ("keys", edited("vdf/VDF_META.json", put("indexes", {"a": 7}))),
        ("keys", edited("vdf/VDF_META.json", lambda meta: meta.pop("indexes") and None)),
        (
            "keys",
            edited(
                "vdf/VDF_META.json", lambda meta: meta["indexes"]["chunks"][0].pop("data_path") and None
            ),
        ),
        (
            "metric",
            edited("vdf/VDF_META.json", lambda meta: put("metric", "cos")(meta["indexes"]["chunks"][0])),
        ),
        (
            "count",
            edited(
                "vdf/VDF_META.json",
                lambda meta: put("exported_vector_count", 9)(meta["indexes"]["chunks"][0]),
            ),
        ),
        (
            "vector",
            edited("vdf/VDF_META.json", lambda meta: put("dimensions", 9)(meta["indexes"]["chunks"][0])),
        ),
        ("columns", rewritten("vdf/chunks/*.parquet", lambda table: table.drop_columns("vector"))),
        ("id_twice", rewritten("vdf/chunks/*.parquet", with_values("id", TEXT, ["c", "c", "d"]))),
    ],
    "delta": [
        ("log", lambda folder: shutil.rmtree(folder / "delta/_delta_log")),
        ("file", lambda folder: one(folder, "delta/chunks/*/*.parquet").unlink()),
        ("file", larger("delta/chunks/*/*.parquet", 1)),
    ],
}
SQL = [
    ("layout", added("upserts/part.txt")),
    ("parquet", added("upserts/part.parquet")),
    ("columns", rewritten("upserts/*.parquet", lambda table: table.drop_columns("embedding"))),
    ("columns", rewritten("upserts/*.parquet", with_values("embedding", pa.list_(pa.float64()), VECTORS))),
    (
        "columns",
        lambda folder: pq.write_table(
            pq.read_table(one(folder, "upserts/*.parquet")).select(["embedding", "chunk_id"]),
            folder / "upserts/z.parquet",
        ),
    ),
    ("id", rewritten("upserts/*.parquet", with_values("chunk_id", TEXT, [None, "c", "d"]))),
    ("id_twice", rewritten("upserts/*.parquet", with_values("chunk_id", TEXT, ["c", "c", "d"]))),
    ("vector", rewritten("upserts/*.parquet", with_values("embedding", FLOATS, [[1.0], *VECTORS[1:]]))),
]
WHOLE |= {
    "bigquery": [
        *SQL,
        ("size", rewritten("upserts/*.parquet", with_values("text", TEXT, ["x" * 50_000_001, "", ""]))),
    ],
    "snowflake": [
        *SQL,
        ("size", rewritten("upserts/*.parquet", with_values("text", TEXT, ["x" * (2**24 + 1), "", ""]))),
        ("vector", rewritten("upserts/*.parquet", with_values("embedding", FLOATS, [[1.0] * 4_097] * 3))),
    ],
}
CHANGES = {
    "pinecone": [
        ("rows", edited("upserts/*.json", lambda body: body.update(vectors=body["vectors"] * 1_000))),
        ("file_size", larger("upserts/*.json", 2_000_000)),
        ("json", edited("upserts/*.json", lambda body: body.pop("namespace") and None)),
        ("rows", edited("deletes/*.json", lambda body: body.update(ids=[str(n) for n in range(1_001)]))),
        ("id", edited("deletes/*.json", lambda body: body.update(ids=["é"]))),
        ("id_twice", edited("deletes/*.json", lambda body: body.update(ids=["a", "a"]))),
    ],
    "milvus": [
        ("filter", edited("deletes/*.json", put("filter", "chunk_id == 'a'"))),
        ("json", edited("deletes/*.json", lambda body: body.pop("collectionName") and None)),
    ],
    "vertex": [("id_in_both", added("batch_root/delete/more.txt", b"a\n"))],
    "s3-vectors": [
        ("rows", edited("deletes/*.json", lambda body: [str(n) for n in range(501)])),
        ("id", edited("deletes/*.json", lambda body: [7])),
    ],
    "turbopuffer": [("id", edited("deletes/*.json", put("deletes", [7])))],
    "bigquery": [("id_in_both", rewritten("deletes/*.parquet", with_values("chunk_id", TEXT, ["a"])))],
    "snowflake": [("id_in_both", rewritten("deletes/*.parquet", with_values("chunk_id", TEXT, ["a"])))],
    "pgcopy": [("id", added("deletes/more.csv", b'""\n'))],
    "opensearch": [("id", added("deletes/more.ndjson", b'{"delete":{"_id":""}}\n'))],
    "azure-search": [("id", edited("deletes/*.json", lambda body: put("chunk_id", "")(body["value"][0])))],
    "vespa": [("id", added("deletes/more.jsonl", b'{"remove":"a"}\n'))],
}
CASES = [
    pytest.param(
        profile,
        changes,
        rule,
        breaking,
        id=f"{profile}-{'changes' if changes else 'whole'}-{number}-{rule}",
    )
    for changes, rules in ((False, WHOLE), (True, CHANGES))
    for profile, cases in rules.items()
    for number, (rule, breaking) in enumerate(cases)
]


@pytest.mark.parametrize(("profile", "changes", "rule", "breaking"), CASES)
def test_a_broken_rule_is_named(profile, changes, rule, breaking, good, table_of, tmp_path):
    folder = shutil.copytree(good(profile, changes, table_of), tmp_path / "broken")
    assert list(check(find_profile(profile), str(folder))) == []
    breaking(folder)
    assert rule in {fault.rule for fault in check(find_profile(profile), str(folder))}


def test_every_profile_has_rules_that_are_tried():
    assert WHOLE.keys() == set(NAMES)


def test_a_folder_that_nobody_exported_is_checked_as_the_store_would_find_it(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    vector = np.ones(3).tolist()
    (folder / "vectors.json").write_text(json.dumps({"id": "1", "embedding": vector}) + "\n")
    assert list(check(find_profile("vertex"), str(folder))) == []
    (folder / "README.txt").write_text("mine")
    assert [fault.rule for fault in check(find_profile("vertex"), str(folder))] == ["layout"]


def test_a_folder_that_is_not_there_is_a_fault_of_the_call(tmp_path):
    with pytest.raises(ConfigError, match="There is no folder"):
        list(check(find_profile("vertex"), str(tmp_path / "nothing")))

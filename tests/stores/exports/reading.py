"""What a store would hold after an export was loaded, read by the store's format and nothing else of the program.

``HOLDINGS[profile](folder, held)`` applies an export to what was held, id to record; a record is the vector and what
came with it, in the words of the store.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Held = dict[str, Any]


def files(folder: Path, pattern: str) -> list[Path]:
    return sorted(folder.glob(pattern))


def parquet(paths: list[Path]) -> list[dict]:
    return [row for path in paths for row in pq.read_table(path).to_pylist()]


def numbers(vector: list[float]) -> list[float]:
    """As 32-bit floats, whatever text they went through."""
    return pa.array([float(value) for value in vector], pa.float32()).to_pylist()


def after(held: Held, upserts: Held, deletes: list[str], *, whole: bool) -> Held:
    found = {} if whole else {key: value for key, value in held.items() if key not in set(deletes)}
    return found | upserts


def is_whole(folder: Path) -> bool:
    return json.loads((folder / "export.json").read_text())["since"] is None


def pinecone(folder: Path, held: Held) -> Held:
    rows = parquet(files(folder, "import/*/*.parquet"))
    upserts = {row["id"]: (row["values"], json.loads(row["metadata"])) for row in rows}
    for path in files(folder, "upserts/*.json"):
        for row in json.loads(path.read_text())["vectors"]:
            upserts[row["id"]] = (numbers(row["values"]), row["metadata"])
    gone = [
        each for path in files(folder, "deletes/*.json") for each in json.loads(path.read_text())["ids"]
    ]
    return after(held, upserts, gone, whole=is_whole(folder))


def milvus(folder: Path, held: Held) -> Held:
    gone = []
    for path in files(folder, "deletes/*.json"):
        text = json.loads(path.read_text())["filter"]
        assert text.startswith("chunk_id in [")
        gone += json.loads(text.removeprefix("chunk_id in "))
    kept = {} if is_whole(folder) else {key: value for key, value in held.items() if key not in set(gone)}
    for row in parquet(files(folder, "import/*.parquet")):
        # An import inserts: what is there already would be there twice.
        assert row["chunk_id"] not in kept
        meta = json.loads(row.pop("$meta"))
        kept[row["chunk_id"]] = (row.pop("embedding"), row | meta)
    return kept


def vertex(folder: Path, held: Held) -> Held:
    upserts = {}
    for path in files(folder, "batch_root/*.json"):
        for line in path.read_text().split("\n")[:-1]:
            row = json.loads(line)
            words = {each["namespace"]: each["allow"] for each in row.get("restricts", [])}
            counts = {each["namespace"]: each["value_int"] for each in row.get("numeric_restricts", [])}
            upserts[row["id"]] = (numbers(row["embedding"]), words | counts)
    gone = [
        each for path in files(folder, "batch_root/delete/*") for each in path.read_text().split("\n")[:-1]
    ]
    assert not set(gone) & set(upserts)
    return after(held, upserts, gone, whole=is_whole(folder))


def azure(folder: Path, held: Held) -> Held:
    upserts, gone = {}, []
    for path in [*files(folder, "upserts/*.json"), *files(folder, "deletes/*.json")]:
        for document in json.loads(path.read_text())["value"]:
            if document.pop("@search.action") == "delete":
                gone.append(document["chunk_id"])
            else:
                upserts[document["chunk_id"]] = (numbers(document.pop("embedding")), document)
    return after(held, upserts, gone, whole=is_whole(folder))


def opensearch(folder: Path, held: Held) -> Held:
    upserts, gone = {}, []
    for path in [*files(folder, "upserts/*.ndjson"), *files(folder, "deletes/*.ndjson")]:
        lines = iter(path.read_text().split("\n")[:-1])
        for line in lines:
            action = json.loads(line)
            if "delete" in action:
                gone.append(action["delete"]["_id"])
            else:
                source = json.loads(next(lines))
                upserts[action["index"]["_id"]] = (numbers(source.pop("embedding")), source)
    return after(held, upserts, gone, whole=is_whole(folder))


def s3_vectors(folder: Path, held: Held) -> Held:
    upserts = {
        row["key"]: (numbers(row["data"]["float32"]), row["metadata"])
        for path in files(folder, "upserts/*.json")
        for row in json.loads(path.read_text())
    }
    gone = [each for path in files(folder, "deletes/*.json") for each in json.loads(path.read_text())]
    return after(held, upserts, gone, whole=is_whole(folder))


def turbopuffer(folder: Path, held: Held) -> Held:
    upserts = {
        row["id"]: (numbers(row["vector"]), row)
        for path in files(folder, "upserts/*.json")
        for row in json.loads(path.read_text())["upsert_rows"]
    }
    for _, row in upserts.values():
        del row["vector"]
    gone = [
        each for path in files(folder, "deletes/*.json") for each in json.loads(path.read_text())["deletes"]
    ]
    return after(held, upserts, gone, whole=is_whole(folder))


def vespa(folder: Path, held: Held) -> Held:
    upserts, gone = {}, []
    for path in [*files(folder, "upserts/*.jsonl"), *files(folder, "deletes/*.jsonl")]:
        for line in path.read_text().split("\n")[:-1]:
            operation = json.loads(line)
            document = operation.get("put") or operation["remove"]
            assert document.startswith("id:chunks:chunks::")
            identifier = document.removeprefix("id:chunks:chunks::")
            if "remove" in operation:
                gone.append(identifier)
            else:
                fields = operation["fields"]
                upserts[identifier] = (numbers(fields.pop("embedding")["values"]), fields)
    return after(held, upserts, gone, whole=is_whole(folder))


def sql(folder: Path, held: Held) -> Held:
    rows = parquet(files(folder, "upserts/*.parquet"))
    upserts = {row["chunk_id"]: (row.pop("embedding"), row) for row in rows}
    gone = [row["chunk_id"] for row in parquet(files(folder, "deletes/*.parquet"))]
    return after(held, upserts, gone, whole=is_whole(folder))


def pgcopy(folder: Path, held: Held) -> Held:
    def read(pattern: str) -> list[list[str]]:
        texts = [path.read_bytes().decode() for path in files(folder, pattern)]
        return [row for text in texts for row in csv.reader(io.StringIO(text, newline=""), strict=True)]

    upserts = {row[0]: (numbers(json.loads(row[1])), row[2:]) for row in read("upserts/*.csv")}
    return after(held, upserts, [row[0] for row in read("deletes/*.csv")], whole=is_whole(folder))


def vdf(folder: Path, held: Held) -> Held:
    meta = json.loads((folder / "vdf/VDF_META.json").read_text())
    (namespaces,) = meta["indexes"].values()
    (index,) = namespaces
    rows = parquet(files(folder / "vdf" / index["data_path"], "*.parquet"))
    assert len(rows) == index["exported_vector_count"]
    return {row[meta["id_column"]]: (row.pop(index["vector_columns"][0]), row) for row in rows}


HOLDINGS = {
    "azure-search": azure,
    "bigquery": sql,
    "milvus": milvus,
    "opensearch": opensearch,
    "pgcopy": pgcopy,
    "pinecone": pinecone,
    "s3-vectors": s3_vectors,
    "snowflake": sql,
    "turbopuffer": turbopuffer,
    "vdf": vdf,
    "vertex": vertex,
    "vespa": vespa,
}

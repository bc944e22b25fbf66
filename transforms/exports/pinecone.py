"""Pinecone: Parquet for an import into a new namespace, or requests that upsert and delete.

An import fills namespaces that do not exist yet, so a change feed is written as bodies of ``/vectors/upsert``
and ``/vectors/delete`` instead. MB are counted as 1,000,000 bytes, to be on the safe side.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from transforms.exports.checking import Broken, Folder, Known, NotJson, flat_faults, json_value, size_faults
from transforms.exports.encoding import (
    id_lists,
    in_json,
    json_ids,
    json_vectors,
    lines,
    members,
    metadata_of,
)
from transforms.exports.files import Cap, Frame, Output, ParquetOutput, TextOutput
from transforms.exports.json_text import json_objects
from transforms.exports.profile import COLUMNS, Fault, Job, Profile, Rows, nothing_beside
from transforms.exports.rules import ID, VECTOR, Rule, encoded_bytes, id_pattern, no_nul, texts
from transforms.exports.sparse import Sparse, json_lists, sparse_faults
from transforms.sparse.columns import INDICES, VALUES

if TYPE_CHECKING:
    from collections.abc import Iterator

_ID = ("[\\x01-\\x7f]{1,512}", "1 to 512 ASCII characters without NUL")
_METADATA_BYTES = 40 * 1024
_FILE_BYTES = 10 * 10**9
_FILES = 100_000
_NAMESPACES = 100
_DIMENSIONS = 20_000
_REQUEST_ROWS = 1_000
_REQUEST_BYTES = 2 * 10**6
_TYPES = {"id": pa.string(), "values": pa.list_(pa.float32()), "metadata": pa.string()}
_SPARSE_COLUMN = "sparse_values"
_SPARSE_TYPE = pa.struct(
    {"indices": pa.list_(pa.uint32()), "values": pa.list_(pa.float32())},
)
_SPARSE = Sparse(
    # Newer pages say 2,048; what older ones say is taken by every index.
    most=1_000,
    note="The index has the metric dotproduct: one of another metric takes them and is not searched by them.",
)


def _rules(job: Job) -> tuple[Rule, ...]:
    return (id_pattern(*_ID), no_nul(texts(job.fields)))


def _upserts(job: Job) -> Output:
    too_much = encoded_bytes("metadata", _METADATA_BYTES, "metadata_too_large", "metadata has")

    def rows(batch: pa.RecordBatch) -> pa.RecordBatch:
        metadata = metadata_of(batch, members(batch, job.fields))
        columns = dict(zip(_TYPES, (batch[ID], batch[VECTOR], metadata), strict=True))
        sparse = {} if job.sparse is None else {_SPARSE_COLUMN: _structs(batch)}
        return pa.RecordBatch.from_pydict(columns | sparse)

    def requests(batch: pa.RecordBatch) -> pa.RecordBatch:
        metadata = metadata_of(batch, members(batch, job.fields))
        record = {"id": json_ids(batch), "values": json_vectors(batch), "metadata": metadata}
        if job.sparse is not None:
            record[_SPARSE_COLUMN] = json_lists(batch, "indices", "values")
        return lines(json_objects(record), metadata=metadata)

    if job.since is None:
        return ParquetOutput(f"import/{job.name}/part-{{:06}}.parquet", rows, rules=(too_much,))
    frame = Frame(b'{"vectors":[', b",", _namespace(job))
    return TextOutput(
        "upserts/{:06}.json", requests, Cap(_REQUEST_ROWS, _REQUEST_BYTES), frame, (too_much,)
    )


def _structs(batch: pa.RecordBatch) -> pa.Array:
    """The sparse vectors of an import; null where there is nothing."""
    nothing = pc.equal(pc.fill_null(pc.list_value_length(batch[INDICES]), 0), 0)
    lists = [
        batch[name].cast(field.type) for name, field in zip((INDICES, VALUES), _SPARSE_TYPE, strict=True)
    ]
    return pa.StructArray.from_arrays(lists, fields=list(_SPARSE_TYPE), mask=nothing)


def _deletes(job: Job) -> Output:
    frame = Frame(b'{"ids":[', b",", _namespace(job))
    return id_lists("deletes/{:06}.json", Cap(_REQUEST_ROWS, _REQUEST_BYTES), frame)


def _namespace(job: Job) -> bytes:
    return f'],"namespace":{json.dumps(job.name)}}}'.encode()


def _check(folder: Folder) -> Iterator[Fault]:
    yield from folder.strangers(
        r"(import/[^/]+|(?!import/)[^/]+)/[^/]+\.parquet|(upserts|deletes)/[^/]+\.json",
        "NAMESPACE/*.parquet, upserts/*.json and deletes/*.json are known",
    )
    files = folder.names("", ".parquet")
    yield from folder.too_many(files, _FILES)
    known = {_namespace_of(name): Known() for name in files}
    if len(known) > _NAMESPACES:
        yield Fault("", "namespaces", f"{len(known)} namespaces are more than {_NAMESPACES}")
    for name in files:
        yield from folder.too_large(name, _FILE_BYTES)
        schema = folder.schema(name)
        has_sparse = schema is not None and _SPARSE_COLUMN in schema.names
        wanted = _TYPES | ({_SPARSE_COLUMN: _SPARSE_TYPE} if has_sparse else {})
        # Other columns would be ignored in silence, which nobody means.
        yield from folder.rows(name, wanted, _row_faults(known[_namespace_of(name)]))
    yield from _check_requests(folder)


def _check_requests(folder: Folder) -> Iterator[Fault]:
    upserts, deletes = Known(), Known()
    for name in folder.names("upserts/"):
        yield from folder.too_large(name, _REQUEST_BYTES)
        yield from folder.request(name, _REQUEST_ROWS, _records("vectors"), _record_faults(upserts))
    for name in folder.names("deletes/"):
        yield from folder.request(
            name, _REQUEST_ROWS, _records("ids"), lambda value: deletes.id_faults(value, *_ID)
        )


def _records(key: str) -> Any:
    return lambda body: body.get(key) if isinstance(body, dict) and "namespace" in body else None


def _row_faults(known: Known) -> Any:
    def faults(row: dict[str, Any]) -> Iterator[Broken]:
        metadata = json_value(row["metadata"] or "{}")
        if isinstance(metadata, NotJson):
            yield "metadata", metadata.why
            metadata = {}
        yield from _record_faults(known)(row | {"metadata": metadata})

    return faults


def _record_faults(known: Known) -> Any:
    def faults(record: Any) -> Iterator[Broken]:
        if not isinstance(record, dict):
            yield "record", "is no object"
            return
        metadata = record.get("metadata", {})
        yield from known.id_faults(record.get("id"), *_ID)
        yield from known.vector_faults(record.get("values"), _DIMENSIONS)
        yield from flat_faults(metadata)
        if isinstance(metadata, dict) and any(key.startswith("$") for key in metadata):
            yield "metadata", "a key begins with $"
        yield from size_faults("metadata", metadata, _METADATA_BYTES)
        sparse = record.get(_SPARSE_COLUMN)
        if isinstance(sparse, dict):
            yield from sparse_faults(sparse.get("indices"), sparse.get("values"), _SPARSE)
        elif sparse is not None:
            yield "sparse", f"{_SPARSE_COLUMN} is no object"

    return faults


def _namespace_of(name: str) -> str:
    return re.sub(r"^import/", "", name).partition("/")[0]


PROFILE = Profile(
    name="pinecone",
    title="Pinecone",
    sources=(
        "https://docs.pinecone.io/guides/index-data/import-data",
        "https://docs.pinecone.io/guides/index-data/data-ingestion-overview",
        "https://docs.pinecone.io/guides/indexes/pods/upsert-sparse-dense-vectors",
        "https://docs.pinecone.io/guides/indexes/sparse-indexes",
        "https://docs.pinecone.io/reference/api/database-limits",
        "https://docs.pinecone.io/reference/known-limitations",
    ),
    folder="",
    columns=COLUMNS,
    most_dimensions=_DIMENSIONS,
    form=Rows(_rules, _upserts, _deletes, nothing_beside),
    load=(
        "Start an import (POST /bulk/imports) with the URI {to}/import; the namespace {name} must not exist yet."
    ),
    load_changes=(
        "Send each file of upserts/ to POST /vectors/upsert and each of deletes/ to POST /vectors/delete, with "
        "Content-Type application/json."
    ),
    check=_check,
    sparse=_SPARSE,
    takes=in_json,
    most_files=_FILES,
    name_pattern=r"[\x20-\x2e\x30-\x7e]{1,512}",
)

"""Milvus and Zilliz: Parquet for a bulk import, whose columns are the fields of the collection.

An import takes exactly the collection's fields, of exactly their types, and fields cannot be null in all versions; so
what every row has is a field, and everything else stands in the dynamic field ``$meta``. An import inserts and does not
replace: what a change feed brings is deleted before. A sparse vector is a field of JSON text in Parquet, as the
project's own writer of such files has it; versions before 2.4 have no such field.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from transforms.exports.checking import Broken, Folder, Known, NotJson, json_value, shown
from transforms.exports.encoding import in_json, json_ids, lines, members, metadata_of
from transforms.exports.files import Cap, Frame, Output, ParquetOutput, TextOutput
from transforms.exports.json_text import json_column
from transforms.exports.profile import COLUMNS, Fault, Files, Job, Profile, Rows
from transforms.exports.rules import ID, VECTOR, Rule, column_bytes, encoded_bytes, id_bytes, texts
from transforms.exports.sparse import Sparse, json_map, map_faults, sparse_faults
from transforms.loaders.mapping import SPARSE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_FILE_BYTES = 16 * 2**30
_FILES = 1_024
_DIMENSIONS = 32_768
_TEXT_BYTES = 65_535
_REQUEST_IDS = 1_000
_META = "$meta"
_DEFINITION = "collection.json"
_VECTORS = pa.list_(pa.float32())
_TYPES = {
    "VarChar": pa.string(),
    "Int8": pa.int8(),
    "Int32": pa.int32(),
    "Int64": pa.int64(),
    "Float": pa.float32(),
}
_SPARSE_KIND = "SparseFloatVector"
_WITHOUT_TERMS = '{"0":1.1754944e-38}'
"""The smallest number: it adds nothing to any score that could be seen."""
_SPARSE = Sparse(
    largest=2**32 - 2,
    note="Milvus has fields of that kind from version 2.4: for an older one export with --no-sparse.",
)


def _rules(job: Job) -> tuple[Rule, ...]:
    return (id_bytes(_TEXT_BYTES), column_bytes(texts(_fields(job)), _TEXT_BYTES))


def _fields(job: Job) -> list[pa.Field]:
    """The columns that every row has, of the types that all versions import."""
    return [field for field in job.fields if not field.nullable and field.type in _TYPES.values()]


def _upserts(job: Job) -> Output:
    fields = _fields(job)
    rest = [field for field in job.fields if field not in fields]

    def encode(batch: pa.RecordBatch) -> pa.RecordBatch:
        meta = metadata_of(batch, members(batch, rest))
        columns = {ID: batch[ID], VECTOR: batch[VECTOR]} | {
            field.name: batch[field.name] for field in fields
        }
        if job.sparse is not None:
            # The field is in every row and never empty.
            columns[SPARSE] = pc.fill_null(json_map(batch), _WITHOUT_TERMS)
        return pa.RecordBatch.from_pydict(columns | {_META: meta})

    too_much = encoded_bytes(_META, _TEXT_BYTES, "metadata_too_large", "what stands in $meta has")
    return ParquetOutput("import/part-{:06}.parquet", encode, rules=(too_much,))


def _deletes(job: Job) -> Output:
    def encode(batch: pa.RecordBatch) -> pa.RecordBatch:
        # A string of the filter's language within a string of JSON.
        return lines(pc.utf8_slice_codeunits(json_column(json_ids(batch)), 1, -1))

    head = f'{{"collectionName":{json.dumps(job.name)},"filter":"{ID} in ['
    return TextOutput(
        "deletes/{:06}.json", encode, Cap(_REQUEST_IDS, 2**20), Frame(head.encode(), b",", b']"}')
    )


def _beside(job: Job, _files: Files) -> Mapping[str, str]:
    text = {"dataType": "VarChar", "elementTypeParams": {"max_length": _TEXT_BYTES}}
    fields: list[dict[str, Any]] = [
        {"fieldName": ID, "isPrimary": True} | text,
        {"fieldName": VECTOR, "dataType": "FloatVector", "elementTypeParams": {"dim": job.dimension}},
    ]
    for field in _fields(job):
        kind = next(name for name, arrow in _TYPES.items() if arrow == field.type)
        fields.append({"fieldName": field.name} | (text if kind == "VarChar" else {"dataType": kind}))
    index: list[dict[str, Any]] = [
        {"fieldName": VECTOR, "metricType": "COSINE", "indexName": VECTOR, "indexType": "AUTOINDEX"}
    ]
    if job.sparse is not None:
        fields.append({"fieldName": SPARSE, "dataType": _SPARSE_KIND})
        index.append(
            {
                "fieldName": SPARSE,
                "metricType": "IP",
                "indexName": SPARSE,
                "indexType": "SPARSE_INVERTED_INDEX",
            }
        )
    collection = {
        "collectionName": job.name,
        "schema": {"autoId": False, "enableDynamicField": True, "fields": fields},
        "indexParams": index,
    }
    return {_DEFINITION: json.dumps(collection, indent=2) + "\n"}


def _check(folder: Folder) -> Iterator[Fault]:
    yield from folder.strangers(
        r"collection\.json|deletes/[^/]+\.json|(.+/)?[^/]+\.parquet",
        "collection.json, deletes/*.json and *.parquet are known",
    )
    files = folder.names("", ".parquet")
    yield from folder.too_many(files, _FILES)
    wanted = _wanted(folder)
    if isinstance(wanted, Fault):
        yield wanted
        return
    known = Known()
    for name in files:
        yield from folder.too_large(name, _FILE_BYTES)
        yield from folder.rows(name, wanted, _row_faults(known))
    for name in folder.names("deletes/"):
        yield from folder.request(name, 1, _delete_request, _filter_faults)


def _wanted(folder: Folder) -> dict[str, pa.DataType] | Fault:
    """The columns of the collection's definition, where there is one; or what is wrong with that."""
    wanted = {ID: pa.string(), VECTOR: _VECTORS, _META: pa.string()}
    if _DEFINITION not in folder.sizes:
        return wanted
    definition = json_value(folder.store.read(_DEFINITION))
    try:
        fields = {field["fieldName"]: field["dataType"] for field in definition["schema"]["fields"]}
        types = _TYPES | {_SPARSE_KIND: pa.string()}
        return {name: types[kind] for name, kind in fields.items() if name not in wanted} | wanted
    except (KeyError, TypeError):
        return Fault(
            _DEFINITION, "definition", "is no definition of a collection with fields of known types"
        )


def _row_faults(known: Known) -> Any:
    def faults(row: dict[str, Any]) -> Iterator[Broken]:
        yield from known.id_faults(row[ID], ".+", "a string that holds something")
        yield from known.vector_faults(row[VECTOR], _DIMENSIONS)
        if SPARSE in row:
            yield from _sparse_faults(row[SPARSE])
        for name, value in row.items():
            if value is None:
                yield "null", f"{name} is null"
            if name != SPARSE and isinstance(value, str) and len(value.encode()) > _TEXT_BYTES:
                yield "size", f"{name} has {len(value.encode()):,} bytes, more than {_TEXT_BYTES:,}"
        meta = json_value(row[_META] or "")
        if isinstance(meta, NotJson) or not isinstance(meta, dict):
            yield "metadata", f"{_META} {shown(row[_META])} is no JSON object"
        elif meta.keys() & row.keys():
            yield "metadata", f"{_META} repeats {', '.join(sorted(meta.keys() & row.keys()))}"

    return faults


def _sparse_faults(text: str | None) -> Iterator[Broken]:
    """A sparse vector as JSON text: an object from index to value, or of two lists."""
    found = json_value(text or "")
    if isinstance(found, NotJson) or not isinstance(found, dict):
        yield "sparse", f"{SPARSE} {shown(text)} is no JSON object"
    elif found.keys() == {"indices", "values"}:
        yield from sparse_faults(found["indices"], found["values"], _SPARSE)
    else:
        yield from map_faults(found, _SPARSE)


def _delete_request(body: Any) -> Any:
    return [body] if isinstance(body, dict) and "collectionName" in body else None


def _filter_faults(body: dict[str, Any]) -> Iterator[Broken]:
    head, _, ids = str(body.get("filter", "")).partition(" in ")
    found = json_value(ids)
    if head != ID or not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        yield "filter", f"{shown(body.get('filter'))} is not {ID} in [...]"


PROFILE = Profile(
    name="milvus",
    title="Milvus, Zilliz Cloud",
    sources=(
        "https://docs.zilliz.com/docs/data-import-parquet",
        "https://milvus.io/docs/v2.3.x/bulk_insert.md",
        "https://milvus.io/docs/limitations.md",
        "https://milvus.io/docs/string.md",
        "https://github.com/milvus-io/pymilvus/tree/master/pymilvus/bulk_writer",
    ),
    folder="",
    columns=COLUMNS,
    most_dimensions=_DIMENSIONS,
    form=Rows(_rules, _upserts, _deletes, _beside, delete_first=True),
    load=(
        "Create the collection from collection.json (POST /v2/vectordb/collections/create). Send each file of deletes/ "
        "to POST /v2/vectordb/entities/delete: an import does not replace rows, so these come first. Put import/ into "
        "the bucket of Milvus and import its files (POST /v2/vectordb/jobs/import/create, or do_bulk_insert of "
        "pymilvus), in one request of up to 1,024 files or one by one."
    ),
    check=_check,
    sparse=_SPARSE,
    takes=in_json,
    most_files=_FILES,
    name_pattern="[A-Za-z_][A-Za-z0-9_]{0,254}",
)

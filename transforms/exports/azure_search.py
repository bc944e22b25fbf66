"""Azure AI Search: bodies of index requests, each document with its ``@search.action``."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from transforms.exports.checking import Broken, Folder, Known, shown
from transforms.exports.encoding import in_json, json_ids, json_vectors, lines, literal, members
from transforms.exports.files import Cap, Frame, Output, TextOutput
from transforms.exports.json_text import json_objects
from transforms.exports.profile import COLUMNS, Fault, Files, Job, Profile, Rows
from transforms.exports.rules import (
    ID,
    VECTOR,
    Rule,
    column_bytes,
    id_characters,
    id_pattern,
    no_nul,
    texts,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_ROWS = 1_000
_BYTES = 16 * 10**6
_KEY = (
    "[A-Za-z0-9=-][A-Za-z0-9_=-]{0,1023}",
    "1 to 1,024 letters, digits, - _ =, and no _ at its beginning",
)
_DIMENSIONS = 4_096
_TERM_BYTES = 32_766
"""Lucene's longest term: of a text that is filtered by as a whole."""
_FIELD_NAME = "[A-Za-z][A-Za-z0-9_]{0,127}"
_ACTIONS = ("upload", "merge", "mergeOrUpload", "delete")
_SEARCHED = ("text", "doc_title", "section_title")
_SHOWN = ("metadata",)
"""Neither searched nor filtered by."""
_FRAME = Frame(b'{"value":[', b",", b"]}")


def _rules(job: Job) -> tuple[Rule, ...]:
    filtered = [name for name in texts(job.fields) if name not in (*_SEARCHED, *_SHOWN)]
    return (
        id_characters(1_024),
        id_pattern("[A-Za-z0-9=-][A-Za-z0-9_=-]*", _KEY[1]),
        no_nul(texts(job.fields)),
        column_bytes(filtered, _TERM_BYTES),
    )


def _upserts(job: Job) -> Output:
    def encode(batch: pa.RecordBatch) -> pa.RecordBatch:
        action = literal(batch, "upload")
        record = {"@search.action": action, ID: json_ids(batch), VECTOR: json_vectors(batch)}
        return lines(json_objects(record | members(batch, job.fields)))

    return TextOutput("upserts/{:06}.json", encode, Cap(_ROWS, _BYTES), _FRAME)


def _deletes(_job: Job) -> Output:
    def encode(batch: pa.RecordBatch) -> pa.RecordBatch:
        return lines(json_objects({"@search.action": literal(batch, "delete"), ID: json_ids(batch)}))

    return TextOutput("deletes/{:06}.json", encode, Cap(_ROWS, _BYTES), _FRAME)


def _beside(job: Job, _files: Files) -> Mapping[str, str]:
    vector = {
        "name": VECTOR, "type": "Collection(Edm.Single)", "searchable": True, "retrievable": False,
        "dimensions": job.dimension, "vectorSearchProfile": "hnsw",
    }  # fmt: skip
    index = {
        "name": job.name,
        "fields": [
            {"name": ID, "type": "Edm.String", "key": True, "filterable": True},
            vector,
            *(_field(field) for field in job.fields),
        ],
        "vectorSearch": {
            "algorithms": [{"name": "hnsw-cosine", "kind": "hnsw", "hnswParameters": {"metric": "cosine"}}],
            "profiles": [{"name": "hnsw", "algorithm": "hnsw-cosine"}],
        },
    }
    return {"index.json": json.dumps(index, indent=2) + "\n"}


def _field(field: pa.Field) -> dict[str, Any]:
    searched = field.name in _SEARCHED
    return {
        "name": field.name,
        "type": _edm(field.type),
        "searchable": searched,
        "filterable": field.name not in (*_SEARCHED, *_SHOWN),
        "facetable": False,
        "sortable": False,
    }


def _edm(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"Collection({_edm(kind.value_type)})"
    if pa.types.is_integer(kind):
        return "Edm.Int64" if kind.bit_width == 64 else "Edm.Int32"
    if pa.types.is_floating(kind):
        return "Edm.Double"
    return "Edm.Boolean" if pa.types.is_boolean(kind) else "Edm.String"


def _check(folder: Folder) -> Iterator[Fault]:
    yield from folder.strangers(r"index\.json|(.+/)?[^/]+\.json", "*.json is known")
    known = Known()
    for name in folder.names():
        if name != "index.json" and name.endswith(".json"):
            yield from folder.too_large(name, _BYTES)
            yield from folder.request(name, _ROWS, _documents, _document_faults(known))


def _documents(body: Any) -> Any:
    return body.get("value") if isinstance(body, dict) else None


def _document_faults(known: Known) -> Any:
    def faults(document: Any) -> Iterator[Broken]:
        if not isinstance(document, dict):
            yield "record", "is no object"
            return
        action = document.get("@search.action", "upload")
        if action not in _ACTIONS:
            yield "action", f"@search.action is {shown(action)}"
        yield from known.id_faults(document.get(ID), *_KEY)
        if VECTOR in document or action == "upload":
            yield from known.vector_faults(document.get(VECTOR), _DIMENSIONS)
        yield from _field_faults(document)

    return faults


def _field_faults(document: Mapping[str, Any]) -> Iterator[Broken]:
    for key, value in document.items():
        if key != "@search.action" and not _is_name(key):
            yield "field", f"{shown(key)} is no name of a field"
        texts_of = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        longest = max((len(each.encode()) for each in texts_of if isinstance(each, str)), default=0)
        if key not in (*_SEARCHED, *_SHOWN) and longest > _TERM_BYTES:
            yield "size", f"{shown(key)} has {longest:,} bytes, more than {_TERM_BYTES:,}"


def _is_name(key: str) -> bool:
    return re.fullmatch(_FIELD_NAME, key) is not None and not key.startswith("azureSearch")


PROFILE = Profile(
    name="azure-search",
    title="Azure AI Search",
    sources=(
        "https://learn.microsoft.com/rest/api/searchservice/documents/",
        "https://docs.microsoft.com/rest/api/searchservice/AddUpdate-or-Delete-Documents",
        "https://learn.microsoft.com/rest/api/searchservice/naming-rules",
        "https://learn.microsoft.com/azure/search/search-limits-quotas-capacity",
    ),
    folder="",
    columns=COLUMNS,
    most_dimensions=_DIMENSIONS,
    form=Rows(_rules, _upserts, _deletes, _beside),
    load=(
        "Create the index from index.json (PUT /indexes/{name}), then send each file of upserts/ and of deletes/ to "
        "POST /indexes/{name}/docs/index. Look at the status of each document: a 207 hides failed ones."
    ),
    check=_check,
    takes=in_json,
    name_pattern="[a-z0-9](?:[a-z0-9]|[-_](?![-_])){1,127}",
)

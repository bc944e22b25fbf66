"""Vertex AI Vector Search: one flat folder of JSON lines, with lists of ids to remove in ``delete/``.

Texts that people filter by become restricts, numbers numeric restricts; there is no other metadata. Files are not
compressed, and the folder holds nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from transforms.exports.checking import Broken, Folder, Known
from transforms.exports.encoding import in_json, json_ids, json_vectors, lines, listed
from transforms.exports.files import LINES_BYTES, Cap, Output, TextOutput
from transforms.exports.json_text import json_column, json_objects, without_empty_lists
from transforms.exports.profile import Fault, Job, Profile, Rows, nothing_beside
from transforms.exports.rules import ID, Rule, id_pattern, no_nul, texts
from transforms.exports.sparse import Sparse, json_lists, sparse_faults

if TYPE_CHECKING:
    from collections.abc import Iterator

_FILES = 5_000
_DIMENSIONS = 2**31 - 1
"""No limit is published."""
_ID = (r"[^\r\n\x00]+", "characters without line breaks and NUL")
_LAYOUT = r"[^/]+\.json|delete/[^/]+"
_SPARSE = Sparse()
_NUMBERS = ("value_int", "value_float", "value_double")


def _rules(job: Job) -> tuple[Rule, ...]:
    return (id_pattern(*_ID), no_nul(texts(job.fields)))


def _upserts(job: Job) -> Output:
    words = [field for field in job.fields if not _is_number(field.type)]
    numbers = [field for field in job.fields if _is_number(field.type)]

    def encode(batch: pa.RecordBatch) -> pa.RecordBatch:
        record = {"id": json_ids(batch), "embedding": json_vectors(batch)}
        if job.sparse is not None:
            record["sparse_embedding"] = json_lists(batch, "dimensions", "values")
        if words:
            record["restricts"] = listed([_restrict(batch, field) for field in words])
        if numbers:
            record["numeric_restricts"] = listed([_numeric(batch, field) for field in numbers])
        return lines(json_objects(record))

    return TextOutput("batch_root/part-{:06}.json", encode, Cap(2**31, LINES_BYTES))


def _deletes(_job: Job) -> Output:
    return TextOutput(
        "batch_root/delete/part-{:06}.txt", lambda batch: lines(batch[ID]), Cap(2**31, LINES_BYTES)
    )


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _restrict(batch: pa.RecordBatch, field: pa.Field) -> pa.Array:
    allow = json_column(without_empty_lists(batch[field.name]))
    if not pa.types.is_list(field.type):
        allow = pc.binary_join_element_wise("[", allow, "]", "")
    return _named(field.name, "allow", allow)


def _numeric(batch: pa.RecordBatch, field: pa.Field) -> pa.Array:
    key = "value_int" if pa.types.is_integer(field.type) else "value_float"
    return _named(field.name, key, json_column(batch[field.name]))


def _named(name: str, key: str, value: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(f'{{"namespace":"{name}","{key}":', value, "}", "")


def _check(folder: Folder) -> Iterator[Fault]:
    yield from folder.strangers(_LAYOUT, "*.json and delete/* are known, and no folder besides")
    yield from folder.too_many(folder.names(), _FILES)
    known = Known()
    for name in folder.names("", ".json"):
        if "/" not in name:
            yield from folder.lines(name, _record_faults(known))
    for name in folder.names("delete/"):
        yield from _check_deletes(folder, name, known)


def _record_faults(known: Known) -> Any:
    def faults(record: Any) -> Iterator[Broken]:
        if not isinstance(record, dict):
            yield "record", "is no object"
            return
        yield from known.id_faults(record.get("id"), *_ID)
        yield from known.vector_faults(record.get("embedding"), _DIMENSIONS)
        sparse = record.get("sparse_embedding")
        if isinstance(sparse, dict):
            yield from sparse_faults(sparse.get("dimensions"), sparse.get("values"), _SPARSE)
        elif sparse is not None:
            yield "sparse", "sparse_embedding is no object"
        for key, faults_of in (("restricts", _restrict_faults), ("numeric_restricts", _numeric_faults)):
            found = record.get(key, [])
            if not isinstance(found, list):
                yield "restricts", f"{key} is no list"
                continue
            for restrict in found:
                yield from faults_of(restrict)

    return faults


def _restrict_faults(restrict: Any) -> Iterator[Broken]:
    if not isinstance(restrict, dict) or not isinstance(restrict.get("namespace"), str):
        yield "restricts", "a restrict has no namespace"
        return
    for key in restrict.keys() - {"namespace"}:
        tokens = restrict[key]
        if key not in ("allow", "deny", "allow_list", "deny_list"):
            yield "restricts", f"a restrict has {key}"
        elif not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
            yield "restricts", f"{key} of {restrict['namespace']} is no list of strings"


def _numeric_faults(restrict: Any) -> Iterator[Broken]:
    if not isinstance(restrict, dict) or not isinstance(restrict.get("namespace"), str):
        yield "restricts", "a numeric restrict has no namespace"
    elif len([key for key in _NUMBERS if key in restrict]) != 1:
        yield "restricts", f"a numeric restrict has one of {', '.join(_NUMBERS)}"


def _check_deletes(folder: Folder, name: str, known: Known) -> Iterator[Fault]:
    with folder.store.open(name) as opened:
        for number, line in enumerate(opened, 1):
            identifier = line.decode("utf-8", "replace").rstrip("\n")
            if identifier in known.ids:
                yield Fault(name, "id_in_both", f"line {number:,}: id {identifier!r} is in a data file too")


PROFILE = Profile(
    name="vertex",
    title="Vertex AI Vector Search",
    sources=(
        "https://cloud.google.com/vertex-ai/docs/vector-search/setup/format-structure",
        "https://cloud.google.com/vertex-ai/docs/vector-search/about-hybrid-search",
    ),
    folder="batch_root/",
    # A long text as a token to filter by would serve nobody.
    columns=(
        "source_name",
        "doc_id",
        "doc_type",
        "chunk_index",
        "page_start",
        "entity_id",
        "doc_number",
        "revision",
    ),
    most_dimensions=_DIMENSIONS,
    form=Rows(_rules, _upserts, _deletes, nothing_beside),
    load=(
        "Copy batch_root/ to a bucket and create the index with contentsDeltaUri = that folder, or update it: with "
        "isCompleteOverwrite true for a whole snapshot, false for changes. Vectors come back with their ids alone; "
        "texts are read from the table."
    ),
    check=_check,
    sparse=_SPARSE,
    takes=in_json,
    most_files=_FILES,
)

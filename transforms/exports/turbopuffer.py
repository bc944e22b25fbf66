"""Turbopuffer: bodies of write requests, rows to upsert or ids to delete, with the schema of the columns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from transforms.exports.checking import Broken, Folder, Known, shown
from transforms.exports.encoding import id_lists, in_json, json_ids, json_vectors, lines, members
from transforms.exports.files import LINES_BYTES, Cap, Frame, Output, TextOutput
from transforms.exports.json_text import json_objects
from transforms.exports.profile import COLUMNS, Fault, Job, Profile, Rows, nothing_beside
from transforms.exports.rules import Rule, column_bytes, id_bytes, texts
from transforms.exports.sparse import Sparse, json_map, map_faults
from transforms.loaders.mapping import SPARSE

if TYPE_CHECKING:
    from collections.abc import Iterator

_REQUEST_BYTES = 256 * 10**6
"""What every version of the limits allows; newer ones say 512 MB."""
_ID_BYTES = 64
_VALUE_BYTES = 8 * 2**20
_NAME_BYTES = 128
_NAMES = 256
_DIMENSIONS = 10_752
_ROWS = 2**31
_SEARCHED = ("text",)
_SPARSE = Sparse(
    note='They are kept as 16-bit floats; a query ranks by `["sparse", "SparseKNN", {TERM: WEIGHT}]`.'
)


def _rules(job: Job) -> tuple[Rule, ...]:
    return (id_bytes(_ID_BYTES), column_bytes(texts(job.fields), _VALUE_BYTES))


def _upserts(job: Job) -> Output:
    def encode(batch: pa.RecordBatch) -> pa.RecordBatch:
        record = {"id": json_ids(batch), "vector": json_vectors(batch)}
        if job.sparse is not None:
            record[SPARSE] = json_map(batch)
        return lines(json_objects(record | members(batch, job.fields)))

    tail = f'],"distance_metric":"cosine_distance","schema":{json.dumps(_schema(job))}}}'
    return TextOutput(
        "upserts/{:06}.json",
        encode,
        Cap(_ROWS, LINES_BYTES),
        Frame(b'{"upsert_rows":[', b",", tail.encode()),
    )


def _deletes(_job: Job) -> Output:
    return id_lists("deletes/{:06}.json", Cap(_ROWS, LINES_BYTES), Frame(b'{"deletes":[', b",", b"]}"))


def _schema(job: Job) -> dict[str, Any]:
    """Types that could be taken for others, and which text is searched and not filtered by."""
    types: dict[str, Any] = {field.name: _type(field.type) for field in job.fields}
    searched = {name: {"type": "string", "full_text_search": True} for name in _SEARCHED if name in types}
    sparse = {"type": "{}f16", "sparse_knn": {"distance_metric": "dot_product"}}
    return types | searched | ({} if job.sparse is None else {SPARSE: sparse})


def _type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"[]{_type(kind.value_type)}"
    if pa.types.is_integer(kind):
        return "int"
    return "float" if pa.types.is_floating(kind) else "string"


def _check(folder: Folder) -> Iterator[Fault]:
    yield from folder.strangers(
        r"(upserts|deletes)/[^/]+\.json", "upserts/*.json and deletes/*.json are known"
    )
    upserts, deletes = Known(), Known()
    for name in folder.names("upserts/"):
        yield from folder.too_large(name, _REQUEST_BYTES)
        yield from folder.request(name, _ROWS, _records("upsert_rows"), _row_faults(upserts))
    for name in folder.names("deletes/"):
        yield from folder.too_large(name, _REQUEST_BYTES)
        yield from folder.request(
            name, _ROWS, _records("deletes"), lambda value: _id_faults(value, deletes)
        )


def _records(key: str) -> Any:
    return lambda body: body.get(key) if isinstance(body, dict) else None


def _row_faults(known: Known) -> Any:
    names: set[str] = set()

    def faults(row: Any) -> Iterator[Broken]:
        if not isinstance(row, dict):
            yield "record", "is no object"
            return
        yield from _id_faults(row.get("id"), known)
        yield from known.vector_faults(row.get("vector"), _DIMENSIONS)
        for key, value in row.items():
            yield from _attribute_faults(key, value)
        if len(names | row.keys()) > _NAMES >= len(names):
            yield "attributes", f"there are more than {_NAMES} names of attributes"
        names.update(row)

    return faults


def _id_faults(value: Any, known: Known) -> Iterator[Broken]:
    yield from known.id_faults(value, ".+", "a string, as all others are")
    if isinstance(value, str) and len(value.encode(errors="surrogatepass")) > _ID_BYTES:
        yield "id", f"id {shown(value)} has more than {_ID_BYTES} bytes"


def _attribute_faults(key: str, value: Any) -> Iterator[Broken]:
    if len(key.encode()) > _NAME_BYTES or key.startswith("$"):
        yield "attributes", f"{shown(key)} is no name of an attribute"
    if key == SPARSE:
        yield from map_faults(value, _SPARSE)
    elif isinstance(value, dict):
        yield "attributes", f"{shown(key)} is an object"
    if isinstance(value, str) and len(value.encode()) > _VALUE_BYTES:
        yield "size", f"{shown(key)} has more than {_VALUE_BYTES:,} bytes"


PROFILE = Profile(
    name="turbopuffer",
    title="Turbopuffer",
    sources=(
        "https://turbopuffer.com/docs/write",
        "https://turbopuffer.com/docs/limits",
        "https://rubydoc.info/gems/turbopuffer/Turbopuffer/Models/AttributeSchemaConfig",
    ),
    folder="",
    columns=COLUMNS,
    most_dimensions=_DIMENSIONS,
    form=Rows(_rules, _upserts, _deletes, nothing_beside),
    load=(
        "Send each file of upserts/ and of deletes/ to POST /v2/namespaces/{name}. A whole snapshot goes into a new "
        "namespace: rows that are not in it would stay in an old one."
    ),
    check=_check,
    sparse=_SPARSE,
    takes=in_json,
    name_pattern="[A-Za-z0-9._-]{1,128}",
)

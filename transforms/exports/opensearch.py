"""OpenSearch and Elasticsearch: bodies of ``_bulk`` requests, and the mapping of the index.

A file is one request. Amazon's service takes 10 MiB on its small instances, others 100 MiB; the smaller one is kept to.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from transforms.exports.checking import Folder, Known, NotJson, json_value
from transforms.exports.encoding import in_json, json_ids, json_vectors, lines, members, prefixed
from transforms.exports.files import Cap, Output, TextOutput
from transforms.exports.json_text import json_objects
from transforms.exports.profile import COLUMNS, Fault, Files, Job, Profile, Rows
from transforms.exports.rules import ID, VECTOR, Rule, column_bytes, id_bytes, texts
from transforms.exports.sparse import Sparse, json_map, map_faults
from transforms.loaders.mapping import SPARSE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_BYTES = 10 * 2**20
_ROWS = 10_000
_ID_BYTES = 512
_DIMENSIONS = 16_000
_ELASTIC_DIMENSIONS = 4_096
_TERM_BYTES = 32_766
_SEARCHED = ("text", "doc_title", "section_title")
_SHOWN = ("metadata",)
"""Kept in the source and not in the index."""
_SPARSE = Sparse(
    note="A query has a `rank_feature` of `sparse.TERM` with the function `linear` and the term's weight as its boost, "
    "for each term, all in a `bool`. Values are kept with nine bits, a relative error of 0.4% at most."
)
_WITH_SOURCE = ("index", "create", "update")


def _rules(job: Job) -> tuple[Rule, ...]:
    keywords = [name for name in texts(job.fields) if name not in (*_SEARCHED, *_SHOWN)]
    return (id_bytes(_ID_BYTES), column_bytes(keywords, _TERM_BYTES))


def _upserts(job: Job) -> Output:
    def encode(batch: pa.RecordBatch) -> pa.RecordBatch:
        ids = json_ids(batch)
        action = prefixed('{"index":{"_id":', ids, "}}")
        sparse = {} if job.sparse is None else {SPARSE: json_map(batch)}
        source = json_objects({ID: ids, VECTOR: json_vectors(batch)} | sparse | members(batch, job.fields))
        return lines(pc.binary_join_element_wise(action, source, "\n"))

    return TextOutput("upserts/{:06}.ndjson", encode, Cap(_ROWS, _BYTES))


def _deletes(_job: Job) -> Output:
    def encode(batch: pa.RecordBatch) -> pa.RecordBatch:
        return lines(prefixed('{"delete":{"_id":', json_ids(batch), "}}"))

    return TextOutput("deletes/{:06}.ndjson", encode, Cap(_ROWS, _BYTES))


def _beside(job: Job, _files: Files) -> Mapping[str, str]:
    plain = {ID: {"type": "keyword"}} | {field.name: _mapping(field) for field in job.fields}
    if job.sparse is not None:
        plain[SPARSE] = {"type": "rank_features"}
    knn = {
        "type": "knn_vector",
        "dimension": job.dimension,
        "method": {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"},
    }
    dense = {"type": "dense_vector", "dims": job.dimension, "index": True, "similarity": "cosine"}
    opensearch = {"settings": {"index": {"knn": True}}, "mappings": _properties({VECTOR: knn} | plain)}
    definitions = {"index.opensearch.json": opensearch}
    if job.dimension <= _ELASTIC_DIMENSIONS:
        definitions["index.elasticsearch.json"] = {"mappings": _properties({VECTOR: dense} | plain)}
    return {path: json.dumps(text, indent=2) + "\n" for path, text in definitions.items()}


def _properties(fields: dict[str, Any]) -> dict[str, Any]:
    return {"dynamic": "strict", "properties": fields}


def _mapping(field: pa.Field) -> dict[str, Any]:
    kind = field.type.value_type if pa.types.is_list(field.type) else field.type
    if pa.types.is_integer(kind):
        return {"type": "long" if kind.bit_width == 64 else "integer"}
    if pa.types.is_floating(kind):
        return {"type": "float"}
    if pa.types.is_temporal(kind):
        return {"type": "date"}
    if field.name in _SHOWN:
        return {"type": "keyword", "index": False, "doc_values": False}
    return {"type": "text" if field.name in _SEARCHED else "keyword"}


def _check(folder: Folder) -> Iterator[Fault]:
    yield from folder.strangers(
        r"index\.[a-z]+\.json|(.+/)?[^/]+\.(nd)?json", "index.*.json and *.ndjson are known"
    )
    known = Known()
    for name in folder.names():
        if not name.startswith("index.") or name.endswith(".ndjson"):
            yield from folder.too_large(name, _BYTES)
            yield from _check_bulk(folder, name, known)


def _check_bulk(folder: Folder, name: str, known: Known) -> Iterator[Fault]:
    data = folder.store.read(name)
    if not data.endswith(b"\n"):
        yield Fault(name, "end", "the last line does not end in a line break")
    rows = iter(data.removesuffix(b"\n").split(b"\n"))
    for number, line in enumerate(rows, 1):
        for rule, detail in _action_faults(json_value(line), rows, known):
            yield Fault(name, rule, f"action {number:,}: {detail}")


def _action_faults(action: Any, rows: Iterator[bytes], known: Known) -> Iterator[tuple[str, str]]:
    """Faults of one action; its source is taken from the lines that follow."""
    if isinstance(action, NotJson) or not isinstance(action, dict) or len(action) != 1:
        yield "json", "is no object with one action"
        return
    verb, about = next(iter(action.items()))
    if verb not in (*_WITH_SOURCE, "delete") or not isinstance(about, dict):
        yield "action", f"there is no action {verb}"
        return
    yield from known.id_faults(about.get("_id"), ".{1,512}", "1 to 512 bytes of UTF-8")
    if len(str(about.get("_id", "")).encode(errors="surrogatepass")) > _ID_BYTES:
        yield "id", "the id has more than 512 bytes of UTF-8"
    if verb in _WITH_SOURCE:
        source = json_value(next(rows, b""))
        if isinstance(source, NotJson) or not isinstance(source, dict):
            yield "json", f"{verb} has no source on the next line"
            return
        if verb == "index":
            yield from known.vector_faults(source.get(VECTOR), _DIMENSIONS)
        if SPARSE in source:
            yield from map_faults(source[SPARSE], _SPARSE)


PROFILE = Profile(
    name="opensearch",
    title="OpenSearch, Elasticsearch",
    sources=(
        "https://docs.opensearch.org/latest/api-reference/document-apis/bulk",
        "https://github.com/opensearch-project/k-NN/pull/1346",
        "https://www.elastic.co/guide/en/elasticsearch/reference/8.11/docs-bulk.html",
        "https://www.elastic.co/guide/en/elasticsearch/reference/7.9/rank-features.html",
        "https://docs.opensearch.org/latest/mappings/supported-field-types/rank/",
        "https://docs.aws.amazon.com/opensearch-service/latest/developerguide/limits.html",
    ),
    folder="",
    columns=COLUMNS,
    most_dimensions=_DIMENSIONS,
    form=Rows(_rules, _upserts, _deletes, _beside),
    load=(
        "Create the index from index.opensearch.json or index.elasticsearch.json (PUT /{name}), then send each file of "
        "upserts/ and of deletes/ to POST /{name}/_bulk with Content-Type application/x-ndjson. Look at `errors` of "
        "the answer: a 200 hides failed items. A whole snapshot goes into a new index, an alias then to that."
    ),
    check=_check,
    sparse=_SPARSE,
    takes=in_json,
    name_pattern=r"[a-z0-9][a-z0-9._-]{0,199}",
)

"""What Elasticsearch and OpenSearch have in common: the bulk interface, whose 200 says nothing of its items.

A row is a document with the id as its ``_id``. Each item of an answer is looked at: those that a full queue turned
away are sent again, and one that was refused is an error with its id and reason. The two differ in how vectors are
declared, which is a :class:`Dialect`. A sparse vector is a field of rank features named by their terms in both: a
query of linear ones, each with its weight as boost, is the inner product.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson
import pyarrow as pa

from transforms.loaders.in_place import replace_in_place
from transforms.loaders.protocol import Existing, Names
from transforms.loaders.rest import PassingError, ServerError, bodies, repeated
from transforms.loaders.values import LONG, METADATA, columns_of, ids_of, sparse_rows, vectors_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from transforms.loaders.protocol import Limits, Target
    from transforms.loaders.rest import Rest

STATES = "parquetry_state"
"""An index with a document for each index that was loaded."""
_ROWS = 500
_BYTES = 8 * 2**20
"""Most of a request: what both projects advise, far below their limit of 100 MB."""
_PAGE = 10_000
_KEEP = "5m"
_NDJSON = "application/x-ndjson"
_PASSES = frozenset({429, 503})
_LONGEST_KEYWORD = 8_191
"""Characters of a value that can be filtered by: 32,766 bytes is the engine's limit, and UTF-8 has up to four each."""
_MISSING_INDEX = 404
NAMES = Names(
    r"[a-z0-9][^A-Z\\/*?\"<>| ,#:]{0,254}",
    'it begins with a small letter or digit and has neither capitals nor any of \\ / * ? " < > | , # : or spaces',
)
"""Of indexes and aliases of both."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one of the two declares vectors."""

    name: str
    limits: Limits
    settings: Callable[[Target], dict[str, object]]
    """Of a new index, besides those of both."""
    vector: Callable[[Target], dict[str, object]]
    """Mapping of the vector's field."""
    metadata: Mapping[str, object]
    """Mapping of the document's own metadata."""
    existing: Callable[[dict[str, Any]], Existing]
    """Reads the mapping of a vector's field."""
    is_vector: str
    """Type of such a field."""


class BulkLoader:
    """Indexes of a cluster."""

    errors = (ServerError,)

    def __init__(self, rest: Rest, dialect: Dialect) -> None:
        self.name = dialect.name
        self.limits = dialect.limits
        self._rest = rest
        self._dialect = dialect

    def close(self) -> None:
        self._rest.close()

    def resolve(self, name: str) -> str:
        found = self._rest.send("GET", f"/_alias/{quote(name, safe='')}", missing=True)
        if found is None:
            return name
        if len(found) > 1:
            raise ServerError(f"alias {name} stands for {len(found)} indexes: {', '.join(sorted(found))}")
        return str(next(iter(found)))

    def describe(self, collection: str) -> Existing | None:
        found = self._rest.send("GET", f"{_path(collection)}/_mapping", missing=True)
        if not found:
            return None
        fields = found[collection]["mappings"].get("properties", {}).values()
        vectors = [field for field in fields if field.get("type") == self._dialect.is_vector]
        return self._dialect.existing(vectors[0]) if len(vectors) == 1 else Existing(None, None)

    def state(self, collection: str) -> str | None:
        found = self._rest.send("GET", f"{_path(STATES)}/_doc/{quote(collection, safe='')}", missing=True)
        return str(found["_source"]["state"]) if found else None

    def set_state(self, collection: str, state: str) -> None:
        if self.describe(STATES) is None:
            self._create(STATES, {}, {"state": {"type": "keyword", "index": False, "doc_values": False}})
        path = f"{_path(STATES)}/_doc/{quote(collection, safe='')}?refresh=true"
        self._rest.send("PUT", path, {"state": state})

    def create(self, target: Target) -> None:
        fields = {field.name: self._field(field.column, field.kind) for field in target.fields}
        # Nothing is made searchable while rows come; finish() does, and returns to the cluster's own interval.
        settings = {"refresh_interval": "-1", **self._dialect.settings(target)}
        vector = {target.vector: self._dialect.vector(target)}
        self._create(target.collection, settings, {**vector, **_sparse_field(target), **fields})

    def drop(self, collection: str) -> None:
        self._rest.send("DELETE", _path(collection), missing=True)

    def replace(self, target: Target, batches: Iterator[pa.RecordBatch]) -> None:
        if target.sparse is not None and self.describe(target.collection) is not None:
            # One that was made by others may not have the field.
            fields = {"properties": _sparse_field(target)}
            self._rest.send("PUT", f"{_path(target.collection)}/_mapping", fields)
        replace_in_place(self, target, batches)

    def upsert(self, target: Target, batch: pa.RecordBatch) -> None:
        encode = functools.partial(_index_lines, target=target)
        self._rest.send_all(
            functools.partial(self._bulk, target.collection, body)
            for _, body in bodies(batch, encode, _ROWS, _BYTES)
        )

    def delete(self, target: Target, ids: pa.Array) -> None:
        lines = [orjson.dumps({"delete": {"_id": one}}) for one in ids.to_pylist()]
        self._rest.send_all(
            functools.partial(
                self._bulk, target.collection, b"\n".join([*lines[first : first + _PAGE], b""])
            )
            for first in range(0, len(lines), _PAGE)
        )

    def finish(self, target: Target) -> None:
        self._rest.send(
            "PUT", f"{_path(target.collection)}/_settings", {"index": {"refresh_interval": None}}
        )
        self._refresh(target.collection)
        # What is acknowledged is in the log; a flush makes it cheap to recover.
        self._rest.send("POST", f"{_path(target.collection)}/_flush")

    def count(self, collection: str) -> int:
        self._refresh(collection)
        return int(self._rest.send("GET", f"{_path(collection)}/_count")["count"])

    def held(self, target: Target, ids: Sequence[str]) -> set[str]:
        found = self._rest.send(
            "POST", f"{_path(target.collection)}/_mget?_source=false", {"ids": list(ids)}
        )
        return {str(one["_id"]) for one in found["docs"] if one.get("found")}

    def ids(self, target: Target) -> Iterator[pa.Array]:
        self._refresh(target.collection)
        wanted = {"size": _PAGE, "_source": False, "sort": ["_doc"]}
        page = self._rest.send("POST", f"{_path(target.collection)}/_search?scroll={_KEEP}", wanted)
        try:
            while page["hits"]["hits"]:
                yield pa.array([str(hit["_id"]) for hit in page["hits"]["hits"]], pa.string())
                wanted = {"scroll": _KEEP, "scroll_id": page["_scroll_id"]}
                page = self._rest.send("POST", "/_search/scroll", wanted)
        finally:
            self._rest.send("DELETE", "/_search/scroll", {"scroll_id": page["_scroll_id"]}, missing=True)

    def switch(self, alias: str, collection: str) -> None:
        actions: list[object] = [{"add": {"index": collection, "alias": alias}}]
        former = self.resolve(alias)
        if former not in {alias, collection}:
            actions.insert(0, {"remove": {"index": former, "alias": alias}})
        self._rest.send("POST", "/_aliases", {"actions": actions})

    def _create(self, index: str, settings: dict[str, object], fields: dict[str, Any]) -> None:
        body = {"settings": {"index": settings}, "mappings": {"dynamic": "strict", "properties": fields}}
        self._rest.send("PUT", _path(index), body)

    def _field(self, column: str, kind: pa.DataType) -> dict[str, object]:
        return dict(self._dialect.metadata) if column == METADATA else _mapping(column, kind)

    def _refresh(self, collection: str) -> None:
        self._rest.send("POST", f"{_path(collection)}/_refresh")

    def _bulk(self, index: str, body: bytes) -> None:
        """Send actions until none of them is turned away."""
        pending = body

        def attempt() -> None:
            nonlocal pending
            answer = self._rest.send("POST", f"{_path(index)}/_bulk", pending, kind=_NDJSON)
            pending = _turned_away(pending, answer)
            if pending:
                raise PassingError(f"the queue of {index} stayed full: {_first_reason(answer)}")

        repeated(attempt)


def _path(index: str) -> str:
    return f"/{quote(index, safe='')}"


def _sparse_field(target: Target) -> dict[str, object]:
    return {} if target.sparse is None else {target.sparse: {"type": "rank_features"}}


def _index_lines(batch: pa.RecordBatch, target: Target) -> bytes:
    columns = columns_of(batch, target.fields)
    names = [target.vector, *(field.name for field in target.fields)]
    if target.sparse is not None:
        names.append(target.sparse)
        columns.append([_features(*row) for row in sparse_rows(batch)])
    lines: list[bytes] = []
    for row_id, *row in zip(ids_of(batch), vectors_of(batch), *columns, strict=True):
        lines.append(orjson.dumps({"index": {"_id": row_id}}))
        lines.append(orjson.dumps(dict(zip(names, row, strict=True)), option=orjson.OPT_SERIALIZE_NUMPY))
    return b"\n".join([*lines, b""])


def _features(indices: NDArray[np.uint32], values: NDArray[np.float32]) -> dict[str, float]:
    return dict(zip(map(str, indices.tolist()), values.tolist(), strict=True))


def _turned_away(body: bytes, answer: dict[str, Any]) -> bytes:
    """The actions to send again.

    Raises:
        ServerError: an item was refused for good, or answers are missing.
    """
    lines = body.split(b"\n")[:-1]
    actions = _actions(lines)
    items = [next(iter(item.items())) for item in answer["items"]]
    if len(items) != len(actions):
        raise ServerError(f"{len(actions):,} actions were sent, and {len(items):,} answered")
    if not answer["errors"]:
        return b""
    again: list[bytes] = []
    for action, (kind, item) in zip(actions, items, strict=True):
        status = item["status"]
        if status in _PASSES:
            again += action
        elif status >= 400 and not _is_done(kind, item):
            raise ServerError(f"document {item.get('_id')} was refused: {status} {_reason(item)}", status)
    return b"\n".join([*again, b""]) if again else b""


def _actions(lines: list[bytes]) -> list[list[bytes]]:
    """Each action with its document; deletions have none."""
    if lines and lines[0].startswith(b'{"delete"'):
        return [[line] for line in lines]
    return [lines[first : first + 2] for first in range(0, len(lines), 2)]


def _is_done(kind: str, item: dict[str, Any]) -> bool:
    """A deletion of what is not there: 404 without an error, which would be a missing index."""
    return bool(kind == "delete" and item["status"] == _MISSING_INDEX and "error" not in item)


def _reason(item: dict[str, Any]) -> str:
    error = item.get("error") or {}
    if isinstance(error, str):
        return error
    cause = error.get("caused_by") or {}
    return ": ".join(
        str(part) for part in (error.get("type"), error.get("reason"), cause.get("reason")) if part
    )


def _first_reason(answer: dict[str, Any]) -> str:
    items = (next(iter(item.values())) for item in answer["items"])
    return next((_reason(item) for item in items if item["status"] in _PASSES), "")


def _mapping(column: str, kind: pa.DataType) -> dict[str, object]:
    if pa.types.is_string(kind.value_type if pa.types.is_list(kind) else kind):
        return {"type": "text"} if column in LONG else {"type": "keyword", "ignore_above": _LONGEST_KEYWORD}
    if pa.types.is_date(kind):
        return {"type": "date", "format": "strict_date"}
    if pa.types.is_integer(kind):
        return {"type": "long" if kind.bit_width > 32 else "integer"}
    if pa.types.is_floating(kind):
        return {"type": "float"}
    # Vectors of another kind and bytes are kept and not searched.
    return {"type": "object", "enabled": False}

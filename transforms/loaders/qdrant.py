"""Qdrant, over its HTTP interface: a column each for ids, vectors and payloads, as its batches are written.

A row is a point; the columns besides id and vectors are its payload, the document's own metadata as an object in it.
The dense vector is the collection's unnamed one, so that a query need not name it; the sparse one has its name. Where
the encoder leaves inverse document frequencies to the question, Qdrant multiplies by its own unless it is told not to.
The official client is not used: for the same rows it takes three times the time and sends half as many bytes more.
"""

from __future__ import annotations

import functools
import time
import uuid
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson
import pyarrow as pa

from transforms.loaders.in_place import replace_in_place
from transforms.loaders.protocol import Existing, Limits
from transforms.loaders.rest import Rest, ServerError, bodies
from transforms.loaders.server import server_of
from transforms.loaders.values import LONG, columns_of, ids_of, sparse_rows, vectors_of
from transforms.model.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from transforms.loaders.address import Address
    from transforms.loaders.protocol import Index, Metric, Target

STATES = "parquetry_state"
"""A collection with a point for each collection that was loaded."""
_DISTANCES: dict[str, Metric] = {"Cosine": "cosine", "Dot": "dot", "Euclid": "l2"}
_ROWS = 512
_BYTES = 8 * 2**20
"""Most of a request; the server's own limit is 32 MiB."""
_PAGE = 10_000
_UNNAMED = ""
"""What Qdrant calls the unnamed vector where others stand beside it."""
_WEIGHED = "bm25@"
"""Encoders of this name leave inverse document frequencies to the question."""
_NAMESPACE = uuid.UUID("9b1f0a52-8d0c-4c0e-9a55-0f7c6d1f2b1e")
"""Of the ids of states: nothing else has ids in it."""
_PAUSE = 0.2


def connect(address: Address) -> QdrantLoader:
    """``qdrant://HOST:6333#COLLECTION``; the key is that of ``QDRANT_API_KEY``, or of ``api_key_env=NAME``.

    With ``idf=false`` a new collection multiplies no term by its inverse document frequency: the question does.
    """
    server = server_of(address, 6333, {"api_key_env": "QDRANT_API_KEY"}, frozenset({"idf"}))
    idf = server.options.get("idf", "true")
    if idf not in ("true", "false"):
        raise ConfigError(f"{address.shown}: idf is true or false.")
    rest = Rest(server.url, {"api-key": server.secret} if server.secret else None)
    return QdrantLoader(rest, idf=idf == "true")


class QdrantLoader:
    """Collections of a Qdrant server."""

    name = "Qdrant"
    limits = Limits(dimensions=65_536, uuids_only=True, batch_rows=2_048, aliases=True, sparse=True)
    errors = (ServerError,)

    def __init__(self, rest: Rest, *, idf: bool = True) -> None:
        self._rest = rest
        self._idf = idf

    def close(self) -> None:
        self._rest.close()

    def resolve(self, name: str) -> str:
        aliases = self._rest.send("GET", "/aliases")["result"]["aliases"]
        return next((str(one["collection_name"]) for one in aliases if one["alias_name"] == name), name)

    def describe(self, collection: str) -> Existing | None:
        params = self._params(collection)
        if params is None:
            return None
        vectors = params.get("vectors", {})
        # Of a collection with several vectors, which have names, none is ours.
        return Existing(vectors.get("size"), _DISTANCES.get(vectors.get("distance", "")))

    def state(self, collection: str) -> str | None:
        wanted = {"ids": [_state_id(collection)], "with_payload": True}
        found = self._rest.send("POST", f"{_path(STATES)}/points", wanted, missing=True)
        return str(found["result"][0]["payload"]["state"]) if found and found["result"] else None

    def set_state(self, collection: str, state: str) -> None:
        if self.describe(STATES) is None:
            self._rest.send("PUT", _path(STATES), {"vectors": {"size": 1, "distance": "Dot"}})
        payload = {"collection": collection, "state": state}
        point = {"id": _state_id(collection), "vector": [0.0], "payload": payload}
        self._rest.send("PUT", f"{_path(STATES)}/points?wait=true", {"points": [point]})

    def create(self, target: Target) -> None:
        distance = next(name for name, metric in _DISTANCES.items() if metric == target.metric)
        vectors = {"size": target.dimension, "distance": distance}
        wanted = {"vectors": vectors, **self._sparse(target), **_index(target.index)}
        self._rest.send("PUT", _path(target.collection), wanted)
        for field in target.fields:
            schema = _payload_schema(field.kind)
            if schema and field.column not in LONG:
                wanted = {"field_name": field.name, "field_schema": schema}
                self._rest.send("PUT", f"{_path(target.collection)}/index?wait=true", wanted)

    def drop(self, collection: str) -> None:
        self._rest.send("DELETE", _path(collection), missing=True)

    def replace(self, target: Target, batches: Iterator[pa.RecordBatch]) -> None:
        self._make_room(target)
        replace_in_place(self, target, batches)

    def upsert(self, target: Target, batch: pa.RecordBatch) -> None:
        path = f"{_path(target.collection)}/points?wait=true"
        encode = functools.partial(_points, target=target)
        self._rest.send_all(
            functools.partial(self._rest.send, "PUT", path, body)
            for _, body in bodies(batch, encode, _ROWS, _BYTES)
        )

    def delete(self, target: Target, ids: pa.Array) -> None:
        if len(ids):
            path = f"{_path(target.collection)}/points/delete?wait=true"
            self._rest.send("POST", path, {"points": ids.to_pylist()})

    def finish(self, target: Target) -> None:
        # Green: nothing is left to be indexed. Grey: it is put off until the next write.
        while (status := self._status(target.collection)) == "yellow":
            time.sleep(_PAUSE)
        if status == "red":
            raise ServerError(f"collection {target.collection} is damaged: the server calls it red")

    def count(self, collection: str) -> int:
        found = self._rest.send("POST", f"{_path(collection)}/points/count", {"exact": True})
        return int(found["result"]["count"])

    def held(self, target: Target, ids: Sequence[str]) -> set[str]:
        wanted = {"ids": list(ids), "with_payload": False, "with_vector": False}
        found = self._rest.send("POST", f"{_path(target.collection)}/points", wanted)
        return {str(point["id"]) for point in found["result"]}

    def ids(self, target: Target) -> Iterator[pa.Array]:
        wanted: dict[str, object] = {"limit": _PAGE, "with_payload": False, "with_vector": False}
        while True:
            page = self._rest.send("POST", f"{_path(target.collection)}/points/scroll", wanted)["result"]
            yield pa.array([str(point["id"]) for point in page["points"]], pa.string())
            if page["next_page_offset"] is None:
                return
            wanted["offset"] = page["next_page_offset"]

    def switch(self, alias: str, collection: str) -> None:
        actions: list[object] = [{"create_alias": {"collection_name": collection, "alias_name": alias}}]
        if self.resolve(alias) != alias:
            actions.insert(0, {"delete_alias": {"alias_name": alias}})
        self._rest.send("POST", "/collections/aliases", {"actions": actions})

    def _params(self, collection: str) -> dict[str, Any] | None:
        found = self._rest.send("GET", _path(collection), missing=True)
        return None if found is None else dict(found["result"]["config"]["params"])

    def _make_room(self, target: Target) -> None:
        """See to it that the collection, if there is one, takes the sparse vector."""
        params = self._params(target.collection)
        if target.sparse is None or params is None:
            return
        if target.sparse in (params.get("sparse_vectors") or {}):
            # Another encoder, or another address, may ask for another way to weigh.
            self._rest.send("PATCH", _path(target.collection), self._sparse(target))
            return
        # One that was made by others, all of whose rows are to go. Names of vectors cannot be added.
        aliases = self._rest.send("GET", "/aliases")["result"]["aliases"]
        if any(one["collection_name"] == target.collection for one in aliases):
            raise ServerError(
                f"{target.collection} has no sparse vector {target.sparse}, so that it would have to be made anew, "
                "and an alias stands for it; load into another collection with --into, or set `sparse` to null"
            )
        self.drop(target.collection)

    def _sparse(self, target: Target) -> dict[str, object]:
        if target.sparse is None:
            return {}
        modifier = "idf" if self._idf and target.encoder.startswith(_WEIGHED) else "none"
        return {"sparse_vectors": {target.sparse: {"modifier": modifier}}}

    def _status(self, collection: str) -> str:
        return str(self._rest.send("GET", _path(collection))["result"]["status"])


def _path(collection: str) -> str:
    return f"/collections/{quote(collection, safe='')}"


def _state_id(collection: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, collection))


def _index(index: Index) -> dict[str, object]:
    if index.kind == "default":
        return {}
    # Without neighbours no graph is built.
    m = index.m if index.kind == "hnsw" else 0
    return {"hnsw_config": {"m": m, "ef_construct": index.ef_construction}}


def _payload_schema(kind: pa.DataType) -> str | None:
    """The index that a field is filtered by; lists of numbers are vectors of another kind."""
    if pa.types.is_string(kind.value_type if pa.types.is_list(kind) else kind):
        return "keyword"
    if pa.types.is_date(kind):
        return "datetime"
    if pa.types.is_integer(kind):
        return "integer"
    return "float" if pa.types.is_floating(kind) else None


def _points(batch: pa.RecordBatch, target: Target) -> bytes:
    columns = columns_of(batch, target.fields)
    names = [field.name for field in target.fields]
    payloads = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    points = {"ids": ids_of(batch), "vectors": _vectors(batch, target), "payloads": payloads or None}
    return orjson.dumps({"batch": points}, option=orjson.OPT_SERIALIZE_NUMPY)


def _vectors(batch: pa.RecordBatch, target: Target) -> object:
    dense = vectors_of(batch)
    if target.sparse is None:
        return dense
    sparse = [{"indices": indices, "values": values} for indices, values in sparse_rows(batch)]
    return {_UNNAMED: dense, target.sparse: sparse}

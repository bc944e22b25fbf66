"""Milvus, on a server or in a file of Milvus Lite: a typed column each, metadata as JSON.

Its client takes a dictionary a row. Collections are read at the level ``Strong``, so that a count sees what was
written before it, and are loaded for it: one that was released answers nothing.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import grpc
import pyarrow as pa
from pymilvus import DataType, MilvusClient, MilvusException

from transforms.loaders.in_place import replace_in_place
from transforms.loaders.protocol import Existing, Limits, Names
from transforms.loaders.server import is_server, server_of
from transforms.loaders.values import METADATA, columns_of, ids_of, pieces, sparse_rows, vectors_of
from transforms.model.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from transforms.loaders.address import Address
    from transforms.loaders.protocol import Field, Metric, Target

STATES = "parquetry_state"
"""A collection with a row for each collection that was loaded."""
_METRICS: dict[str, Metric] = {"COSINE": "cosine", "IP": "dot", "L2": "l2"}
_TEXT_BYTES = 65_535
_ID_BYTES = 1_024
_LIST_LENGTH = 4_096
"""The longest list that Milvus has a type for."""
WITHOUT_TERMS = {0: 2.0**-126}
"""In place of an empty sparse vector, which Milvus refuses: it adds nothing to any score that could be seen."""
_ROWS = 1_000
_PAGE = 10_000
_PAUSE = 0.2


def connect(address: Address) -> MilvusLoader:
    """``milvus://[USER@]HOST:19530[/DATABASE]#COLLECTION``, version 2.5 or newer, or ``milvus:FILE.db#COLLECTION``.

    With a user the password is that of ``MILVUS_PASSWORD`` or ``password_env=NAME``; without one the token of
    ``MILVUS_TOKEN`` or ``token_env=NAME`` is sent if there is one.
    """
    if not is_server(address):
        path = address.local_path()
        if path.suffix != ".db":
            raise ConfigError(f"{address.shown}: a file of Milvus Lite ends in .db.")
        return MilvusLoader(MilvusClient(str(path)), partial(_release, str(path)))
    named = "@" in address.rest
    secrets = {"password_env": "MILVUS_PASSWORD"} if named else {"token_env": "MILVUS_TOKEN"}
    server = server_of(address, 19530, secrets, path="name of a database")
    token = f"{server.user}:{server.secret or ''}" if server.user else server.secret or ""
    client = MilvusClient(server.url, token=token, db_name=server.path, timeout=120)
    return MilvusLoader(client, lambda: None)


class MilvusLoader:
    """Collections of one database."""

    name = "Milvus"
    limits = Limits(
        names=Names(
            r"[A-Za-z_][A-Za-z0-9_]{0,254}",
            "it has letters of English, digits and underscores alone, no digit first",
        ),
        dimensions=32_768,
        id_bytes=_ID_BYTES,
        text_bytes=_TEXT_BYTES,
        batch_rows=2_000,
        aliases=True,
        sparse=True,
    )
    errors = (MilvusException, grpc.RpcError)

    def __init__(self, client: MilvusClient, release: Callable[[], None]) -> None:
        self._client = client
        self._release = release

    def close(self) -> None:
        self._client.close()
        self._release()

    def resolve(self, name: str) -> str:
        if name in self._client.list_collections():
            return name
        if not self._client.has_collection(name):
            return name
        return str(self._client.describe_alias(name)["collection_name"])

    def describe(self, collection: str) -> Existing | None:
        if collection not in self._client.list_collections():
            return None
        fields = self._client.describe_collection(collection)["fields"]
        vectors = [field for field in fields if field["type"] == DataType.FLOAT_VECTOR]
        if len(vectors) != 1:
            return Existing(None, None)
        metric = self._index(collection, vectors[0]["name"]).get("metric_type", "")
        return Existing(int(vectors[0]["params"]["dim"]), _METRICS.get(metric))

    def state(self, collection: str) -> str | None:
        if STATES not in self._client.list_collections():
            return None
        self._client.load_collection(STATES)
        found = self._client.query(
            STATES, ids=[collection], output_fields=["state"], consistency_level="Strong"
        )
        return str(found[0]["state"]) if found else None

    def set_state(self, collection: str, state: str) -> None:
        if STATES not in self._client.list_collections():
            self._make_states()
        self._client.upsert(STATES, [{"collection": collection, "state": state, "none": [0.0, 0.0]}])
        self._client.flush(STATES)

    def create(self, target: Target) -> None:
        schema = MilvusClient.create_schema(
            auto_id=False, enable_dynamic_field=False, description=target.model
        )
        schema.add_field(target.id, DataType.VARCHAR, is_primary=True, max_length=_ID_BYTES)
        schema.add_field(target.vector, DataType.FLOAT_VECTOR, dim=target.dimension)
        for field in target.fields:
            schema.add_field(field.name, nullable=True, **_column(field))
        metric = next(name for name, metric in _METRICS.items() if metric == target.metric)
        params = MilvusClient.prepare_index_params()
        params.add_index(target.vector, metric_type=metric, **_vector_index(target))
        if target.sparse is not None:
            schema.add_field(target.sparse, DataType.SPARSE_FLOAT_VECTOR)
            params.add_index(target.sparse, metric_type="IP", index_type="SPARSE_INVERTED_INDEX")
        self._client.create_collection(
            target.collection, schema=schema, index_params=params, consistency_level="Strong"
        )

    def drop(self, collection: str) -> None:
        for alias in self._client.list_aliases(collection)["aliases"] if self.describe(collection) else []:
            self._client.drop_alias(alias)
        self._client.drop_collection(collection)

    def replace(self, target: Target, batches: Iterator[pa.RecordBatch]) -> None:
        if target.sparse is not None and target.collection in self._client.list_collections():
            fields = self._client.describe_collection(target.collection)["fields"]
            if target.sparse not in {field["name"] for field in fields}:
                # One that was made by others, all of whose rows are to go. Vectors cannot be added.
                self.drop(target.collection)
        replace_in_place(self, target, batches)

    def upsert(self, target: Target, batch: pa.RecordBatch) -> None:
        for piece in pieces(batch, _ROWS):
            self._client.upsert(target.collection, _rows(piece, target))

    def delete(self, target: Target, ids: pa.Array) -> None:
        for first in range(0, len(ids), _ROWS):
            self._client.delete(target.collection, ids=ids.slice(first, _ROWS).to_pylist())

    def finish(self, target: Target) -> None:
        self._client.flush(target.collection)
        for name in (target.vector, target.sparse):
            while name and int(self._index(target.collection, name).get("pending_index_rows", 0)):
                time.sleep(_PAUSE)

    def count(self, collection: str) -> int:
        self._client.load_collection(collection)
        found = self._client.query(
            collection, filter="", output_fields=["count(*)"], consistency_level="Strong"
        )
        return int(found[0]["count(*)"])

    def held(self, target: Target, ids: Sequence[str]) -> set[str]:
        self._client.load_collection(target.collection)
        found = self._client.query(
            target.collection, ids=list(ids), output_fields=[target.id], consistency_level="Strong"
        )
        return {str(row[target.id]) for row in found}

    def ids(self, target: Target) -> Iterator[pa.Array]:
        self._client.load_collection(target.collection)
        rows = self._client.query_iterator(
            target.collection, batch_size=_PAGE, output_fields=[target.id], consistency_level="Strong"
        )
        while page := rows.next():
            yield pa.array([str(row[target.id]) for row in page], pa.string())
        rows.close()

    def switch(self, alias: str, collection: str) -> None:
        change = self._client.create_alias if self.resolve(alias) == alias else self._client.alter_alias
        change(collection_name=collection, alias=alias)

    def _index(self, collection: str, field: str) -> dict[str, Any]:
        names = self._client.list_indexes(collection, field)
        return self._client.describe_index(collection, names[0]) if names else {}

    def _make_states(self) -> None:
        schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("collection", DataType.VARCHAR, is_primary=True, max_length=_ID_BYTES)
        schema.add_field("state", DataType.VARCHAR, max_length=_TEXT_BYTES)
        # A collection has a vector, whatever it is for.
        schema.add_field("none", DataType.FLOAT_VECTOR, dim=2)
        params = MilvusClient.prepare_index_params()
        params.add_index("none", index_type="FLAT", metric_type="L2")
        self._client.create_collection(
            STATES, schema=schema, index_params=params, consistency_level="Strong"
        )


def _release(path: str) -> None:
    """Stop the server of Milvus Lite in this process, which would keep the file from others to its end."""
    from milvus_lite.server_manager import server_manager_instance

    server_manager_instance.release_server(path)


def _rows(batch: pa.RecordBatch, target: Target) -> list[dict[str, object]]:
    names = [target.id, target.vector, *(field.name for field in target.fields)]
    columns = columns_of(batch, target.fields)
    if target.sparse is not None:
        names.append(target.sparse)
        columns.append([_terms(*row) for row in sparse_rows(batch)])
    rows = zip(ids_of(batch), vectors_of(batch), *columns, strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _terms(indices: NDArray[np.uint32], values: NDArray[np.float32]) -> dict[int, float]:
    return dict(zip(indices.tolist(), values.tolist(), strict=True)) or WITHOUT_TERMS


def _vector_index(target: Target) -> dict[str, Any]:
    if target.index.kind == "hnsw":
        sizes = {"M": target.index.m, "efConstruction": target.index.ef_construction}
        return {"index_type": "HNSW", "params": sizes}
    return {"index_type": "FLAT" if target.index.kind == "none" else "AUTOINDEX"}


def _column(field: Field) -> dict[str, Any]:
    """Type of a column, by the name of arguments of ``add_field``."""
    if field.column == METADATA:
        return {"datatype": DataType.JSON}
    if pa.types.is_list(field.kind):
        element = _scalar(field.kind.value_type)
        arguments = {"max_length": _TEXT_BYTES} if element is DataType.VARCHAR else {}
        return {
            "datatype": DataType.ARRAY,
            "element_type": element,
            "max_capacity": _LIST_LENGTH,
            **arguments,
        }
    scalar = _scalar(field.kind)
    return {"datatype": scalar, **({"max_length": _TEXT_BYTES} if scalar is DataType.VARCHAR else {})}


def _scalar(kind: pa.DataType) -> DataType:
    numbers = {
        pa.int8(): DataType.INT8,
        pa.int32(): DataType.INT32,
        pa.int64(): DataType.INT64,
        pa.float32(): DataType.FLOAT,
    }
    # Dates are ISO texts, bytes base64.
    return numbers.get(kind, DataType.VARCHAR)

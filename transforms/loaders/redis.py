"""Redis with its search engine: a hash a row under ``COLLECTION:ID``, and an index over that prefix.

A vector of the wrong length is not refused there but left out of the index and counted, which the check of counts
after a load finds. Redis keeps rows in memory and writes them to disk as its own configuration says.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import redis
from redis.backoff import ExponentialWithJitterBackoff
from redis.retry import Retry

from transforms.loaders.in_place import replace_in_place
from transforms.loaders.protocol import Existing, Limits
from transforms.loaders.server import server_of
from transforms.loaders.values import LONG, ids_of, pieces, plain, vectors_of
from transforms.model.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from transforms.loaders.address import Address
    from transforms.loaders.protocol import Index, Metric, Target

STATES = "parquetry_state"
"""A hash with a field for each collection that was loaded; no prefix of rows, for want of a colon."""
SEPARATOR = "\x1f"
"""Between the values of a list: the character that Unicode has for that."""
_METRICS: dict[str, Metric] = {"COSINE": "cosine", "IP": "dot", "L2": "l2"}
_ROWS = 256
_SCANNED = 2_000
_ATTEMPTS = 8
_PAUSE = 0.1
_NO_INDEX = re.compile("(?i)unknown index name|no such index")


def connect(address: Address) -> RedisLoader:
    """``redis://[USER@]HOST:6379[/DB]#COLLECTION``.

    The password is that of ``REDIS_PASSWORD`` or ``password_env=NAME``.
    """
    server = server_of(address, 6379, {"password_env": "REDIS_PASSWORD"}, path="number of a database")
    if server.path and not server.path.isdigit():
        raise ConfigError(
            f"{address.shown}: a database of Redis is a number; the collection stands behind #."
        )
    client = redis.Redis(
        host=server.host,
        port=server.port,
        db=int(server.path or 0),
        username=server.user,
        password=server.secret,
        ssl=server.tls,
        protocol=2,
        socket_timeout=120,
        socket_connect_timeout=10,
        retry=Retry(ExponentialWithJitterBackoff(base=0.2, cap=10), _ATTEMPTS),
        retry_on_error=[redis.BusyLoadingError, redis.ConnectionError, redis.TimeoutError],
    )
    return RedisLoader(client)


class RedisLoader:
    """Collections of one database of one server."""

    name = "Redis"
    limits = Limits(dimensions=32_768, batch_rows=2_048, aliases=True, full_text="index")
    errors = (redis.RedisError,)

    def __init__(self, client: redis.Redis) -> None:
        self._redis = client

    def close(self) -> None:
        self._redis.close()

    def resolve(self, name: str) -> str:
        facts = self._facts(name)
        return name if facts is None else str(facts["index_name"])

    def describe(self, collection: str) -> Existing | None:
        facts = self._facts(collection)
        if facts is None:
            # Rows without an index are somebody's all the same.
            return Existing(None, None) if any(True for _ in self._keys(collection)) else None
        fields = [_pairs(field) for field in facts["attributes"]]
        vectors = [field for field in fields if field.get("type") == "VECTOR"]
        if len(vectors) != 1:
            return Existing(None, None)
        return Existing(int(vectors[0]["dim"]), _METRICS.get(vectors[0]["distance_metric"]))

    def state(self, collection: str) -> str | None:
        found = self._redis.hget(STATES, collection)
        return None if found is None else _text(found)

    def set_state(self, collection: str, state: str) -> None:
        self._redis.hset(STATES, collection, state)

    def create(self, target: Target) -> None:
        name = target.collection
        if ":" in name:
            raise redis.RedisError(
                f"{name!r}: a colon ends the collection's part of a key and cannot be in it"
            )
        schema: list[object] = [target.vector, "VECTOR", *_algorithm(target)]
        for field in target.fields:
            if field.name == target.full_text:
                schema += [field.name, "TEXT"]
            elif field.column not in LONG:
                schema += _schema(field.name, field.kind)
        self._redis.execute_command(
            "FT.CREATE", name, "ON", "HASH", "PREFIX", 1, f"{name}:", "SCHEMA", *schema
        )

    def drop(self, collection: str) -> None:
        if self._facts(collection) is not None:
            self._redis.execute_command("FT.DROPINDEX", collection)
        for keys in self._keys(collection):
            self._redis.unlink(*keys)

    def replace(self, target: Target, batches: Iterator[pa.RecordBatch]) -> None:
        if self._facts(target.collection) is None:
            self.create(target)
        self._wait(target.collection)
        replace_in_place(self, target, batches)

    def upsert(self, target: Target, batch: pa.RecordBatch) -> None:
        for piece in pieces(batch, _ROWS):
            self._upsert(target, piece)

    def delete(self, target: Target, ids: pa.Array) -> None:
        if len(ids):
            self._redis.unlink(*_named(target, ids.to_pylist()))

    def finish(self, target: Target) -> None:
        self._wait(target.collection)

    def count(self, collection: str) -> int:
        if self._facts(collection) is None:
            return sum(len(keys) for keys in self._keys(collection))
        return int(self._redis.execute_command("FT.SEARCH", collection, "*", "LIMIT", 0, 0)[0])

    def held(self, target: Target, ids: Sequence[str]) -> set[str]:
        pipe = self._redis.pipeline(transaction=False)
        for key in _named(target, ids):
            pipe.exists(key)
        return {one for one, there in zip(ids, pipe.execute(), strict=True) if there}

    def ids(self, target: Target) -> Iterator[pa.Array]:
        start = len(f"{target.collection}:".encode())
        for keys in self._keys(target.collection):
            yield pa.array([key[start:].decode() for key in keys], pa.string())

    def switch(self, alias: str, collection: str) -> None:
        self._redis.execute_command("FT.ALIASUPDATE", alias, collection)

    def _facts(self, name: str) -> dict[str, Any] | None:
        """What the engine says of an index, or of the one that an alias stands for."""
        try:
            return _pairs(self._redis.execute_command("FT.INFO", name))
        except redis.ResponseError as error:
            if _NO_INDEX.search(str(error)):
                return None
            raise

    def _wait(self, collection: str) -> None:
        """Until rows that were there before their index are in it."""
        while int((self._facts(collection) or {"indexing": 0})["indexing"]):
            time.sleep(_PAUSE)

    def _keys(self, collection: str) -> Iterator[list[bytes]]:
        """The keys of a collection's rows, some at once; one may come twice."""
        pattern = re.sub(r"([*?\[\]\\^-])", r"\\\1", collection) + ":*"
        cursor = 0
        while True:
            cursor, keys = self._redis.scan(cursor, match=pattern, count=_SCANNED, _type="hash")
            if keys:
                yield keys
            if not cursor:
                return

    def _upsert(self, target: Target, batch: pa.RecordBatch) -> None:
        columns = [_values(plain(column)) for column in batch.columns[2:]]
        names = [field.name for field in target.fields]
        pipe = self._redis.pipeline(transaction=False)
        for key, vector, *row in zip(
            _named(target, ids_of(batch)), vectors_of(batch), *columns, strict=True
        ):
            values = {name: value for name, value in zip(names, row, strict=True) if value is not None}
            pipe.hset(key, mapping={target.vector: vector.tobytes(), **values})
            if len(values) < len(names):
                # What the row had before and has no more.
                pipe.hdel(key, *(name for name in names if name not in values))
        pipe.execute()


def _named(target: Target, ids: Iterable[str]) -> list[str]:
    return [f"{target.collection}:{one}" for one in ids]


def _algorithm(target: Target) -> list[object]:
    metric = next(name for name, metric in _METRICS.items() if metric == target.metric)
    facts = ["TYPE", "FLOAT32", "DIM", target.dimension, "DISTANCE_METRIC", metric, *_sizes(target.index)]
    return ["FLAT" if target.index.kind == "none" else "HNSW", len(facts), *facts]


def _sizes(index: Index) -> list[object]:
    return ["M", index.m, "EF_CONSTRUCTION", index.ef_construction] if index.kind == "hnsw" else []


def _schema(name: str, kind: pa.DataType) -> list[object]:
    """What a field can be filtered by: exact values of texts, ranges of numbers."""
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return [name, "NUMERIC"]
    if (
        pa.types.is_string(kind)
        or pa.types.is_date(kind)
        or kind == pa.list_(pa.string())
        or _is_texts(kind)
    ):
        return [name, "TAG", "SEPARATOR", SEPARATOR, "CASESENSITIVE"]
    return []


def _is_texts(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) and pa.types.is_string(kind.value_type))


def _values(column: list[object]) -> list[object]:
    """Lists as one text; None stays."""
    return [SEPARATOR.join(map(str, value)) if isinstance(value, list) else value for value in column]


def _pairs(answer: list[Any]) -> dict[str, Any]:
    """A flat list of names and values; a name without one, such as a flag at the end, is left out."""
    names = [_text(name) if isinstance(name, bytes | str) else "" for name in answer[::2]]
    return {name: _decoded(value) for name, value in zip(names, answer[1::2], strict=False)}


def _decoded(value: Any) -> Any:
    return _text(value) if isinstance(value, bytes) else value


def _text(data: Any) -> str:
    return data.decode() if isinstance(data, bytes) else str(data)

"""Chroma, in a folder or on a server: texts as its documents, the other columns as flat metadata.

Its metadata are texts, numbers and lists that are not empty; an upsert keeps what a row does not name, so that what
is null is named as such.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import chromadb
import httpx
import pyarrow as pa
from chromadb.config import Settings
from chromadb.errors import ChromaError, NotFoundError

from transforms.loaders.in_place import replace_in_place
from transforms.loaders.protocol import Existing, Limits, Names
from transforms.loaders.rest import PassingError, ServerError, repeated
from transforms.loaders.server import is_server, server_of
from transforms.loaders.values import ids_of, pieces, plain, vectors_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

    from transforms.loaders.address import Address
    from transforms.loaders.protocol import Metric, Target

STATES = "parquetry_state"
"""A collection with a document for each collection that was loaded."""
DOCUMENT = "text"
"""The column that is a row's document, whatever its name in the store."""
_SPACES: dict[str, Metric] = {"cosine": "cosine", "ip": "dot", "l2": "l2"}
_NAMES = Names(
    r"[A-Za-z0-9][A-Za-z0-9._-]{1,510}[A-Za-z0-9]",
    "it has 3 to 512 letters of English, digits, periods, underscores and hyphens, none of the last three at an end",
)
_ROWS = 1_000
_PAGE = 5_000


def connect(address: Address) -> ChromaLoader:
    """``chroma:FOLDER#COLLECTION``, or ``chroma://HOST:8000#COLLECTION`` with options ``tenant`` and ``database``.

    A server's token is that of ``CHROMA_API_KEY``, or of ``api_key_env=NAME``.
    """
    settings = Settings(anonymized_telemetry=False)
    if not is_server(address):
        return ChromaLoader(partial(chromadb.PersistentClient, str(address.local_path()), settings))
    server = server_of(address, 8000, {"api_key_env": "CHROMA_API_KEY"}, frozenset({"tenant", "database"}))
    return ChromaLoader(
        partial(
            chromadb.HttpClient,
            host=server.host,
            port=server.port,
            ssl=server.tls,
            headers={"x-chroma-token": server.secret} if server.secret else None,
            settings=settings,
            **server.options,
        )
    )


class ChromaLoader:
    """Collections of one database."""

    name = "Chroma"
    limits = Limits(
        names=_NAMES, indexes=frozenset({"default", "hnsw"}), batch_rows=_ROWS, full_text="always"
    )
    errors = (ChromaError, httpx.HTTPError, ServerError, ValueError)

    def __init__(self, make_client: Callable[[], ClientAPI]) -> None:
        self._client = _kept_trying(make_client)
        self._rows = min(_ROWS, self._client.get_max_batch_size())

    def close(self) -> None:
        connections = [*_connections(self._client)]
        self._client.close()
        for one in connections:
            one.close()

    def resolve(self, name: str) -> str:
        return name

    def describe(self, collection: str) -> Existing | None:
        found = self._collection(collection)
        if found is None:
            return None
        facts = found.configuration_json
        space = (facts.get("hnsw") or facts.get("spann") or {}).get("space", "")
        one = found.get(limit=1, include=["embeddings"])["embeddings"]
        return Existing(len(one[0]) if one is not None and len(one) else None, _SPACES.get(str(space)))

    def state(self, collection: str) -> str | None:
        states = self._collection(STATES)
        found = states.get(ids=[collection], include=["documents"])["documents"] if states else None
        return found[0] if found else None

    def set_state(self, collection: str, state: str) -> None:
        states = self._client.get_or_create_collection(STATES, embedding_function=None)
        states.upsert(ids=[collection], embeddings=[[0.0]], documents=[state])

    def create(self, target: Target) -> None:
        space = next(name for name, metric in _SPACES.items() if metric == target.metric)
        hnsw: dict[str, Any] = {"space": space}
        if target.index.kind == "hnsw":
            hnsw |= {"max_neighbors": target.index.m, "ef_construction": target.index.ef_construction}
        self._client.create_collection(
            target.collection, configuration={"hnsw": hnsw}, embedding_function=None
        )

    def drop(self, collection: str) -> None:
        if self._collection(collection) is not None:
            self._client.delete_collection(collection)

    def replace(self, target: Target, batches: Iterator[pa.RecordBatch]) -> None:
        replace_in_place(self, target, batches)

    def upsert(self, target: Target, batch: pa.RecordBatch) -> None:
        collection = self._there(target.collection)
        for piece in pieces(batch, self._rows):
            _kept_trying(partial(collection.upsert, **_rows(piece, target)))

    def delete(self, target: Target, ids: pa.Array) -> None:
        collection = self._there(target.collection)
        for first in range(0, len(ids), self._rows):
            _kept_trying(partial(collection.delete, ids=ids.slice(first, self._rows).to_pylist()))

    def finish(self, target: Target) -> None:
        """Nothing: a row is there and found when its call returns."""

    def count(self, collection: str) -> int:
        return int(self._there(collection).count())

    def held(self, target: Target, ids: Sequence[str]) -> set[str]:
        # An id that is asked for twice is refused.
        return set(self._there(target.collection).get(ids=list(dict.fromkeys(ids)), include=[])["ids"])

    def ids(self, target: Target) -> Iterator[pa.Array]:
        collection, offset = self._there(target.collection), 0
        while page := collection.get(limit=_PAGE, offset=offset, include=[])["ids"]:
            yield pa.array(page, pa.string())
            offset += len(page)

    def switch(self, alias: str, collection: str) -> None:
        raise NotImplementedError

    def _collection(self, name: str) -> Collection | None:
        try:
            return self._there(name)
        except NotFoundError:
            return None

    def _there(self, name: str) -> Collection:
        return self._client.get_collection(name, embedding_function=None)


def _connections(client: Any) -> Iterator[httpx.Client]:
    """What a server's client and the administrator's client within it keep open: they close all but these."""
    for part in (client, getattr(client, "_admin_client", None)):
        session = getattr(getattr(part, "_server", None), "_session", None)
        if isinstance(session, httpx.Client):
            yield session


def _rows(batch: pa.RecordBatch, target: Target) -> dict[str, Any]:
    """The arguments of an upsert."""
    columns = {field: plain(column) for field, column in zip(target.fields, batch.columns[2:], strict=True)}
    document = next((field for field in target.fields if field.column == DOCUMENT), None)
    documents = columns.pop(document) if document else None
    names = [field.name for field in columns]
    # An empty list is refused, and means what no value means.
    values = [[None if value == [] else value for value in column] for column in columns.values()]
    return {
        "ids": ids_of(batch),
        "embeddings": vectors_of(batch),
        "documents": documents,
        "metadatas": [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)] or None,
    }


def _kept_trying(call: Callable[[], Any]) -> Any:
    """What a call returns, made again where the connection broke."""

    def attempt() -> Any:
        try:
            return call()
        except httpx.TransportError as error:
            raise PassingError(f"no answer ({str(error) or type(error).__name__})") from error

    return repeated(attempt)

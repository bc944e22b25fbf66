"""A ClickHouse server over its HTTP interface: statements as text, rows as a stream of Arrow.

``clickhouse://USER@HOST:PORT/DATABASE?tls=true``; the password is that of ``CLICKHOUSE_PASSWORD``, or of the
variable that ``password_env=`` names.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING
from urllib.parse import unquote

import httpx
import pyarrow as pa

from transforms.embedders.http import http_client
from transforms.loaders.server import server_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from transforms.loaders.address import Address
    from transforms.loaders.protocol import Names

_PORT = 8123
_SECONDS = 600.0
"""For one answer: large inserts and deletions are waited for."""


class RefusedError(Exception):
    """The server answered with an error of its own."""


class HttpEngine:
    """One server and database."""

    errors: tuple[type[Exception], ...] = (httpx.HTTPError, RefusedError)
    names: Names | None = None

    def __init__(self, address: Address) -> None:
        """Raises ConfigError where the address is none of a server, or holds a secret."""
        server = server_of(address, _PORT, {"password_env": "CLICKHOUSE_PASSWORD"}, path="a database")
        headers = {"X-ClickHouse-Database": unquote(server.path) or "default"}
        if server.user or server.secret:
            headers["X-ClickHouse-User"] = unquote(server.user or "default")
            headers["X-ClickHouse-Key"] = server.secret or ""
        self._client = http_client(base_url=server.url, headers=headers, timeout=_SECONDS)

    def run(self, statement: str) -> None:
        self._sent(statement.encode())

    def values(self, query: str) -> list[str]:
        data = self._sent(f"{query} FORMAT ArrowStream".encode())
        if not data:
            return []
        column = pa.ipc.open_stream(data).read_all().column(0)
        return [str(value) for value in column.cast(pa.string()).to_pylist()]

    def insert(self, statement: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
        self._sent(_streamed(schema, batches), {"query": f"{statement} FORMAT ArrowStream"})

    def close(self) -> None:
        self._client.close()

    def _sent(self, content: bytes | Iterator[bytes], parameters: dict[str, str] | None = None) -> bytes:
        answer = self._client.post("/", params=parameters, content=content)
        if answer.status_code != httpx.codes.OK:
            raise RefusedError(answer.text)
        return answer.content


def _streamed(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
            yield sink.getvalue()
            sink.seek(0)
            sink.truncate()
    yield sink.getvalue()

"""A store's HTTP interface: JSON there and back, several requests at once, and what passes is asked for again.

Every request may be sent twice without harm: rows are written and deleted by their ids. So whatever sounds as if it
passed (a broken connection, 429, 502, 503, 504) is repeated with growing pauses, or after as long as the server asks.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import httpx
import orjson
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from transforms.embedders.http import http_client
from transforms.embedders.redaction import redacted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pyarrow as pa

PARALLEL = 4
"""Requests in flight: a server has its own queue, and more wait there."""
_ATTEMPTS = 8
_LONGEST_PAUSE = 30.0
_PASSES = frozenset({408, 429, 502, 503, 504})
_SHOWN = 400
"""Characters of a server's answer in an error."""
_backoff = wait_random_exponential(multiplier=0.5, max=_LONGEST_PAUSE)


class ServerError(Exception):
    """The server refused, or was not there after all attempts."""

    def __init__(self, message: str, status: int = 0, pause: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        """Of HTTP; 0: there was no answer."""
        self.pause = pause
        """Seconds that the server asked for."""


class PassingError(ServerError):
    """One that another attempt may mend."""


class Rest:
    """A server's interface. Thread-safe."""

    def __init__(
        self,
        url: str,
        headers: dict[str, str] | None = None,
        auth: tuple[str, str] | None = None,
        timeout: float = 120,
    ) -> None:
        self._http = http_client(
            base_url=url,
            headers=headers,
            auth=auth,
            timeout=httpx.Timeout(timeout, connect=10),
            limits=httpx.Limits(max_connections=PARALLEL, max_keepalive_connections=PARALLEL),
        )
        self._pool = ThreadPoolExecutor(PARALLEL, thread_name_prefix="store-request")

    def close(self) -> None:
        """Give back connections."""
        self._pool.shutdown()
        self._http.close()

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        kind: str = "application/json",
        missing: bool = False,
    ) -> Any:
        """Send a request and return the answer's JSON; None with ``missing`` if there is no such thing (404).

        Args:
            method: of HTTP.
            path: below the base URL, quoted.
            body: bytes as they are, other things as JSON.
            kind: media type of the body.
            missing: whether 404 is an answer.

        Raises:
            ServerError: as its docstring says.
        """
        data = body if isinstance(body, bytes) or body is None else orjson.dumps(body)
        return repeated(lambda: self._send(method, path, data, kind, missing=missing))

    def send_all(self, calls: Iterable[Callable[[], None]]) -> None:
        """Make calls, several at once; those that have begun end before the first error is raised."""
        futures = [self._pool.submit(call) for call in calls]
        errors = [error for error in (future.exception() for future in futures) if error is not None]
        if errors:
            raise errors[0]

    def _send(self, method: str, path: str, data: bytes | None, kind: str, *, missing: bool) -> Any:
        headers = {"Content-Type": kind} if data is not None else None
        try:
            answer = self._http.request(method, path, content=data, headers=headers)
        except httpx.TransportError as error:
            raise PassingError(f"no answer ({str(error) or type(error).__name__})") from error
        if answer.status_code == httpx.codes.NOT_FOUND and missing:
            return None
        if answer.is_success:
            return orjson.loads(answer.content) if answer.content else None
        said = redacted(" ".join(answer.text.split()), answer.request)[:_SHOWN]
        message = f"{method} {answer.request.url.path} was answered {answer.status_code}: {said}"
        if answer.status_code in _PASSES:
            raise PassingError(message, answer.status_code, _asked_pause(answer))
        raise ServerError(message, answer.status_code)


def repeated(call: Callable[[], Any]) -> Any:
    """What a call returns; one that raises PassingError is made again.

    Raises:
        ServerError: so do all attempts; calls may be repeated within calls without multiplying.
    """
    attempts = Retrying(
        retry=retry_if_exception_type(PassingError),
        stop=stop_after_attempt(_ATTEMPTS),
        wait=_pause,
        reraise=True,
    )
    try:
        return attempts(call)
    except PassingError as error:
        raise ServerError(str(error), error.status) from error


def bodies(
    batch: pa.RecordBatch, encode: Callable[[pa.RecordBatch], bytes], rows: int, most_bytes: int
) -> Iterator[tuple[pa.RecordBatch, bytes]]:
    """A batch in pieces of ``rows`` rows at most, with their bodies; one of more than ``most_bytes`` is halved."""
    for first in range(0, batch.num_rows, rows):
        piece = batch.slice(first, rows)
        body = encode(piece)
        if len(body) > most_bytes and piece.num_rows > 1:
            yield from bodies(piece, encode, -(-piece.num_rows // 2), most_bytes)
        else:
            yield piece, body


def _pause(attempt: RetryCallState) -> float:
    error = attempt.outcome.exception() if attempt.outcome else None
    asked = error.pause if isinstance(error, PassingError) else None
    return _backoff(attempt) if asked is None else min(asked, _LONGEST_PAUSE)


def _asked_pause(answer: httpx.Response) -> float | None:
    """Seconds of ``Retry-After``; a date there is not heeded."""
    try:
        return max(0.0, float(answer.headers.get("Retry-After", "")))
    except ValueError:
        return None

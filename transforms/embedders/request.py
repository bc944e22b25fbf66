"""One request to an OpenAI-like server: sent, repeated while that can help, and its answer checked.

Nothing here decides what becomes of a text: a request that fails for what it holds is a
:class:`ContentError`, and the caller finds the text.
"""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import httpx
import numpy as np
from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_random_exponential

from transforms.embedders.hints import is_used_up, seconds_to_wait
from transforms.embedders.redaction import redacted
from transforms.model.errors import ConfigError, ParquetryError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from transforms.embedders.dialects import Found
    from transforms.embedders.pace import Pace

_AGAIN = frozenset({408, 409, 425, 429})
_STOPS = frozenset({401, 402, 403, 404, 405, 407})
_TRIES_OF_A_BATCH = 2
"""A batch that fails twice for what it may hold is cut in two; only a single text gets all tries."""
_OTHER_LENGTHS = 5
"""So many answers with vectors of another length, and none with the right one, are no passing fault."""
MALFORMED = "malformed_answer"
"""Reason of a successful answer that is none."""
_LONGEST_WAIT = 30.0
_SHOWN = 200


class ContentError(Exception):
    """A request failed for what it holds: its size, its parameters or one of its texts."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail

    @property
    def answered(self) -> bool:
        """Whether the server did embed, though not as it was asked to."""
        return self.reason == MALFORMED


class HaltedError(Exception):
    """Another request of the same call has failed for good: this one is not sent any more."""


class Halt:
    """The emergency brake of one call: once pulled, nothing is sent and nobody waits in it."""

    def __init__(self) -> None:
        self._pulled = threading.Event()

    def pull(self) -> None:
        self._pulled.set()

    def check(self) -> None:
        """Raise HaltedError if it was pulled."""
        if self._pulled.is_set():
            raise HaltedError

    def sleep(self, seconds: float) -> None:
        """Sleep, or raise HaltedError as soon as it is pulled."""
        if self._pulled.wait(seconds):
            raise HaltedError


@dataclass(frozen=True, slots=True)
class Answer:
    """Vectors in the order of the request, and the tokens that the server counted, if it says so."""

    vectors: NDArray[np.float32]
    usage: int | None


class _AgainError(Exception):
    """Worth another attempt. ``reason``: if it stays, the request's content is to blame."""

    def __init__(
        self,
        detail: str,
        *,
        wait: float = 0,
        reason: str | None = None,
        told: bool = False,
        length: int = 0,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.wait = wait
        self.reason = reason
        self.told_to_wait = told
        self.length = length
        """Of all vectors of the answer, where it is another than configured."""


class Endpoint:
    """The server: where, with which key, how patiently.

    Safe to use from many threads. Neither its ``repr`` nor any error of it holds the key.
    """

    def __init__(
        self,
        client: httpx.Client,
        url: str,
        pace: Pace,
        found: Callable[[dict[str, Any]], Found],
        *,
        dimension: int,
        tries: int,
        deadline: float,
        timeout: float,
        backoff: float = 0.5,
    ) -> None:
        self._client = client
        self._url = url
        self._pace = pace
        self._found = found
        self._dimension = dimension
        self._tries = tries
        self._deadline = deadline
        self._timeout = timeout
        self._least_pause = backoff
        self._wait_between = wait_random_exponential(multiplier=backoff, max=_LONGEST_WAIT)
        self._is_right = False
        self._other_lengths = 0

    def ask(self, body: dict[str, Any], texts: Sequence[str], tokens: int, halt: Halt) -> Answer:
        """The vectors of ``texts``, which ``body`` holds.

        Raises:
            ContentError: the server refuses the request for what it holds.
            ConfigError: its vectors have another length than configured.
            HaltedError: the brake was pulled.
            ParquetryError: the server cannot be used, or did not answer within tries and deadline.
        """
        tries = self._tries if len(texts) == 1 else min(self._tries, _TRIES_OF_A_BATCH)
        policy = Retrying(
            retry=retry_if_exception_type(_AgainError),
            stop=_Stop(self._tries, tries, self._deadline),
            wait=self._wait,
            sleep=halt.sleep,
            reraise=True,
        )
        try:
            return policy(self._once, body, len(texts), tokens, halt)
        except _AgainError as error:
            if error.reason is not None:
                raise ContentError(error.reason, error.detail) from error
            raise ParquetryError(
                f"The embedding server {self._url} does not answer as it should: {error.detail}. "
                "What was done is kept; run the same command again later."
            ) from error

    def close(self) -> None:
        self._client.close()

    def _wait(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        told = error.wait if isinstance(error, _AgainError) else 0.0
        return max(told, self._wait_between(state))

    def _once(self, body: dict[str, Any], items: int, tokens: int, halt: Halt) -> Answer:
        with self._pace.turn(tokens, halt.sleep) as sent_at:
            halt.check()
            try:
                response = self._post(body)
            except httpx.RequestError as error:
                said = redacted(str(error), error.request)
                raise _AgainError(f"{type(error).__name__}: {said}") from error
            if response.status_code == 429:
                self._raise_for_pace(response, sent_at)
        self._raise_for_status(response)
        self._pace.went_well()
        try:
            answer = parse_answer(response, items, self._dimension, self._found)
        except _AgainError as error:
            self._check_length(error)
            raise
        self._is_right = True
        return answer

    def _check_length(self, error: _AgainError) -> None:
        """Raise ConfigError where a server never gave a vector of the configured length, but often of another."""
        self._other_lengths += error.length > 0
        if error.length and not self._is_right and self._other_lengths >= _OTHER_LENGTHS:
            raise ConfigError(
                f"The server's model gives vectors of length {error.length}, and {self._dimension} is configured: set "
                f"dimension to {error.length}, or ask_dimension or model_dimension where the table's are to be shorter."
            )

    def _raise_for_pace(self, response: httpx.Response, sent_at: float) -> NoReturn:
        said = error_text(response)
        content = _json(response)
        if is_used_up(content):
            raise ParquetryError(
                f"The embedding server {self._url} refuses: the account has no more quota (429: {said})."
            )
        wait = seconds_to_wait(response.headers, content, time.time())
        self._pace.refused(sent_at, max(wait, self._least_pause))
        raise _AgainError(f"429: it asks to go slower ({said})", wait=wait, told=True)

    def _post(self, body: dict[str, Any]) -> httpx.Response:
        """The whole answer. A server that sends it byte by byte is not waited for longer than a silent one."""
        until = time.monotonic() + self._timeout
        with self._client.stream("POST", self._url, json=body) as response:
            parts = []
            for part in response.iter_bytes():
                parts.append(part)
                if time.monotonic() > until:
                    detail = f"the answer took more than {self._timeout:g} s"
                    raise httpx.ReadTimeout(detail, request=response.request)
        headers = {name: response.headers.get(name, "") for name in ("Retry-After", "Retry-After-Ms")}
        return httpx.Response(
            response.status_code, headers=headers, content=b"".join(parts), request=response.request
        )

    def _raise_for_status(self, response: httpx.Response) -> None:
        status = response.status_code
        if status < 300:
            return
        said = f"{status}: {error_text(response)}"
        if status == 500:
            raise _AgainError(said, reason="server_error")
        if status in _AGAIN or status > 500:
            wait = seconds_to_wait(response.headers, _json(response), time.time())
            raise _AgainError(said, wait=wait)
        # A page in place of JSON is of a firewall in front of the server, which reads the texts.
        is_firewall = status == 403 and _json(response) is None
        if (status in _STOPS or status < 400) and not is_firewall:
            raise ParquetryError(f"The embedding server {self._url} refuses: {_hint(status)} ({said}).")
        raise ContentError("embedding_refused", said)


class _Stop:
    """Stop after a number of tries, and never sleep past the deadline. A 429 costs no try."""

    def __init__(
        self,
        tries: int,
        tries_of_content: int,
        deadline: float,
    ) -> None:
        self._left = tries
        self._left_of_content = tries_of_content
        self._deadline = deadline

    def __call__(self, state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        if not isinstance(error, _AgainError):
            return True
        if not error.told_to_wait:
            self._left -= 1
            self._left_of_content -= error.reason is not None
        past = (state.seconds_since_start or 0.0) + error.wait >= self._deadline
        return past or self._left <= 0 or self._left_of_content <= 0


def error_text(response: httpx.Response) -> str:
    """What the server says of its refusal, on one line, without anything that is or looks like a key."""
    content = _json(response)
    if content is None:
        content = response.text
    while isinstance(content, dict):
        content = next((content[k] for k in ("error", "message", "detail") if k in content), str(content))
    line = redacted(" ".join(str(content).split()), response.request)
    line = re.sub(r"(?i)(bearer\s+|sk-|api[-_ ]?key(?: provided)?\W+)\S+", r"\1***", line)
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


def parse_answer(
    response: httpx.Response, items: int, dimension: int, found: Callable[[dict[str, Any]], Found]
) -> Answer:
    """The vectors of a successful answer, in the order of the request.

    Raises:
        _AgainError: it is not what was asked for: no JSON, another number of vectors, places that are
            no permutation, another dimension.
    """
    try:
        answer = found(response.json())
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise _AgainError(_not_an_answer(response), reason=MALFORMED) from error
    places, rows = answer.places, answer.rows
    # Some servers write whole numbers as 0.0; True and False are equal to numbers and are none.
    whole = all(isinstance(place, int | float) and not isinstance(place, bool) for place in places)
    if not whole or sorted(places) != list(range(items)):
        detail = f"{len(rows)} vectors for {items} texts, or two in one place"
        raise _AgainError(detail, reason=MALFORMED)
    if any(row.ndim != 1 for row in rows):
        raise _AgainError("vectors that are no lists of numbers", reason=MALFORMED)
    lengths = {len(row) for row in rows}
    if lengths != {dimension}:
        given = ", ".join(map(str, sorted(lengths)))
        raise _AgainError(
            f"vectors of length {given} where {dimension} is configured",
            reason=MALFORMED,
            length=lengths.pop() if len(lengths) == 1 else 0,
        )
    vectors = np.empty((items, dimension), dtype=np.float32)
    vectors[np.array(places, dtype=np.intp)] = rows
    usage = answer.usage
    return Answer(vectors, usage if isinstance(usage, int) and usage > 0 else None)


def _not_an_answer(response: httpx.Response) -> str:
    """What is said of a success without vectors; some servers put what went wrong into one, or send a page."""
    content = _json(response)
    is_told = content is None or (isinstance(content, dict) and "error" in content)
    return "the answer is not an answer to this" + (f": {error_text(response)}" if is_told else "")


def _json(response: httpx.Response) -> Any:
    """The answer's JSON; None where it is none."""
    try:
        return response.json()
    except (ValueError, RecursionError):
        return None


def _hint(status: int) -> str:
    hints = {
        401: "the key is missing or wrong; api_key_env names the variable that holds it",
        402: "the account has no credit",
        403: "the key may not use this model",
        404: "there is no such model or address; see model and base_url",
    }
    return hints.get(status, "this is no address of an embedding server; see base_url")

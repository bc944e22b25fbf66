"""A server with OpenAI's interface for embeddings: requests cut to its limits, several in flight.

What a request is and when it is repeated is in ``request``, how fast in ``pace``, what a bad text does in
``poison``, what each provider allows in ``presets``.
"""

from __future__ import annotations

import json
import logging
import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np

from transforms.embedders.pace import Pace
from transforms.embedders.poison import embed_around_poison
from transforms.embedders.presets import limits_of
from transforms.embedders.request import ContentError, Endpoint
from transforms.embedders.utf8 import ByteCounter
from transforms.model.errors import ConfigError, ParquetryError
from transforms.model.ids import fingerprint, sha256_hex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from transforms.embedders.presets import Limits
    from transforms.embedders.protocol import Task, TokenCounter
    from transforms.embedders.settings import OpenAISettings

_LOG = logging.getLogger(__name__)
_PROBE = "parquetry"
"""Embedded to tell a bad text from a server that embeds nothing."""
_ASKS_FOR_A_VECTOR = 3
"""A text that came back without a vector is asked for alone, so often in all."""
_ENVELOPE_BYTES = 512
_ITEM_LIMIT = re.compile(
    r"(?i)(?:maximum (?:allowed )?(?:batch size|length)|at most|max batch)\D{0,20}(\d+)"
)
_CONTEXT_LIMIT = re.compile(r"(?i)(?:maximum|max) (?:context|input|model) length\D{0,20}(\d+)")


def build(settings: OpenAISettings) -> OpenAIEmbedder:
    """A client for the server; nothing is sent yet.

    Raises:
        ConfigError: the key's variable is not set, or the tokenizer cannot be read.
    """
    limits = limits_of(settings)
    pace = Pace(
        limits.concurrency,
        settings.requests_per_minute and settings.requests_per_minute / settings.workers,
        settings.tokens_per_minute and settings.tokens_per_minute / settings.workers,
    )
    endpoint = Endpoint(
        open_client(settings, limits),
        f"{limits.base_url}/embeddings",
        pace,
        dimension=settings.dimension,
        tries=settings.tries,
        deadline=settings.deadline,
    )
    return OpenAIEmbedder(settings, endpoint)


def recipe(settings: OpenAISettings) -> str:
    """As all recipes. Address, key, limits and speed are no part: a server may move."""
    limits = limits_of(settings)
    return (
        f"{settings.model} dimension:{settings.dimension} asked:{settings.ask_dimension} "
        f"max_tokens:{limits.item_tokens} too_long:{settings.too_long} normalise:{settings.normalise} "
        f"tokenizer:{sha256_hex(_tokenizer_file(settings) or b'')[:16]} "
        f"task:{limits.task_field} {settings.document_prefix!r} {settings.query_prefix!r}"
    )


def open_client(settings: OpenAISettings, limits: Limits) -> httpx.Client:
    """An HTTP client with the key in its headers, read from the environment."""
    headers = {}
    if limits.key_env:
        key = os.environ.get(limits.key_env, "").strip()
        if not key:
            raise ConfigError(
                f"The embedder needs a key in the environment variable {limits.key_env}, which is not set."
            )
        bearer = "Bearer " if limits.key_header == "Authorization" else ""
        headers[limits.key_header] = f"{bearer}{key}"
    return httpx.Client(
        headers=headers,
        timeout=settings.timeout,
        limits=httpx.Limits(max_connections=limits.concurrency),
    )


@dataclass(frozen=True, slots=True)
class _Piece:
    """What is sent for a text, whole or in part, with its prefix."""

    row: int
    whole: str
    """The text as it was given."""
    text: str
    tokens: int


class OpenAIEmbedder:
    """Vectors as the server gives them. Texts that it refuses have none; :meth:`refusal` says why."""

    batch_items = 4096

    def __init__(self, settings: OpenAISettings, endpoint: Endpoint) -> None:
        self.name = f"{settings.model}@{fingerprint(recipe(settings))[:8]}"
        self.dimension = settings.dimension
        self.counter = _counter(settings)
        self._settings = settings
        self._limits = limits_of(settings)
        self._endpoint = endpoint
        self._prefixes = {"document": settings.document_prefix, "query": settings.query_prefix}
        self._window = self._limits.item_tokens
        prefixed = max(self.counter.count(list(self._prefixes.values())))
        self.max_tokens = self._window and self._window - prefixed
        self._items = self._limits.items
        self._base64 = self._limits.base64
        self._lock = threading.Lock()
        self._spent_tokens = 0
        self._warned = False
        self._refused: dict[str, ContentError] = {}

    def embed(self, texts: Sequence[str], task: Task = "document") -> NDArray[np.float32]:
        pieces = list(self._pieces(texts, task))
        requests = list(self._requests(pieces))
        found = _in_threads(lambda request: self._solve(request, task), requests, self._limits.concurrency)
        vectors = np.concatenate([np.empty((0, self.dimension), dtype=np.float32), *found])
        return self._put_together(len(texts), pieces, vectors)

    def close(self) -> None:
        """Give the connections back; a process that ends does so by itself."""
        self._endpoint.close()

    def refusal(self, text: str) -> tuple[str, str] | None:
        """Reason (a slug) and detail (a sentence) for a text that was refused; None for any other."""
        error = self._refused.get(sha256_hex(text))
        return None if error is None else (error.reason, error.detail)

    def _pieces(self, texts: Sequence[str], task: Task) -> Iterator[_Piece]:
        prefix = self._prefixes[task]
        before = self.counter.count([prefix])[0]
        for row, (text, tokens) in enumerate(zip(texts, self.counter.count(texts), strict=True)):
            if not text.strip():
                continue
            if self.max_tokens is None or tokens <= self.max_tokens:
                yield _Piece(row, text, prefix + text, before + tokens)
            else:
                for part in self._parts(text, tokens, self.max_tokens):
                    yield _Piece(row, text, prefix + part, before + self.counter.count([part])[0])

    def _parts(self, text: str, tokens: int, most: int) -> list[str]:
        policy = self._settings.too_long
        if policy == "error":
            detail = f"{tokens:,} tokens are over the model's {most:,}"
            self._refuse(text, ContentError("text_too_long", detail))
            return []
        parts = parts_within(text, self.counter, most)
        return parts[:1] if policy == "truncate" else parts

    def _requests(self, pieces: Sequence[_Piece]) -> Iterator[list[_Piece]]:
        """Neighbours that go into one request within the limits; at least one."""
        request: list[_Piece] = []
        tokens, size = 0, _ENVELOPE_BYTES
        for piece in pieces:
            more = len(json.dumps(piece.text, ensure_ascii=False).encode()) + 1 if self._limits.bytes else 0
            full = len(request) >= self._items
            full |= self._limits.tokens is not None and tokens + piece.tokens > self._limits.tokens
            full |= self._limits.bytes is not None and size + more > self._limits.bytes
            if request and full:
                yield request
                request, tokens, size = [], 0, _ENVELOPE_BYTES
            request.append(piece)
            tokens, size = tokens + piece.tokens, size + more
        if request:
            yield request

    def _solve(self, request: Sequence[_Piece], task: Task) -> NDArray[np.float32]:
        """The vectors of one request's texts, with as many requests as that takes."""
        texts = [piece.text for piece in request]
        counts = {piece.text: piece.tokens for piece in request}
        vectors, refused = self._embed_around_poison(texts, counts, task)
        for row in np.flatnonzero(~_usable(vectors)):
            if texts[row] not in refused:
                vectors[row], again = self._ask_alone(texts[row], counts, task)
                refused.update(again)
        for piece in request:
            if piece.text in refused:
                self._refuse(piece.whole, refused[piece.text])
        return vectors

    def _ask_alone(
        self, text: str, counts: dict[str, int], task: Task
    ) -> tuple[NDArray[np.float32], dict[str, ContentError]]:
        for _ in range(1, _ASKS_FOR_A_VECTOR):
            vectors, refused = self._embed_around_poison([text], counts, task)
            if refused or _usable(vectors)[0]:
                return vectors[0], refused
        error = ContentError("vector_not_finite", "the server gave zeros or numbers that are not finite")
        return np.full(self.dimension, np.nan, dtype=np.float32), {text: error}

    def _embed_around_poison(
        self, texts: Sequence[str], counts: dict[str, int], task: Task
    ) -> tuple[NDArray[np.float32], dict[str, ContentError]]:
        def ask(part: Sequence[str]) -> NDArray[np.float32]:
            return self._ask(part, sum(counts[text] for text in part), task)

        def is_to_blame(error: ContentError) -> bool:
            self._check_window(error)
            try:
                self._ask([_PROBE], len(_PROBE), task)
            except ContentError:
                return False
            return True

        return embed_around_poison(texts, self.dimension, ask, self._cut_into, is_to_blame)

    def _ask(self, texts: Sequence[str], tokens: int, task: Task) -> NDArray[np.float32]:
        self._reserve(tokens)
        as_base64 = self._base64
        try:
            answer = self._endpoint.ask(self._body(texts, task, as_base64=as_base64), texts, tokens)
        except ContentError as error:
            if as_base64 and re.search("encoding_format|base64", error.detail):
                self._base64 = False
                return self._ask(texts, 0, task)
            raise
        if answer.usage is not None:
            self._compare_usage(answer.usage, tokens)
        return answer.vectors

    def _body(self, texts: Sequence[str], task: Task, *, as_base64: bool) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self._settings.model, "input": list(texts)}
        if as_base64:
            body["encoding_format"] = "base64"
        if self._settings.ask_dimension:
            body[self._limits.dimension_field] = self.dimension
        if self._limits.task_field:
            body[self._limits.task_field] = task
        return body

    def _cut_into(self, texts: Sequence[str], error: ContentError) -> int:
        """Into how many parts a refused request is cut; a limit that the server names is learnt."""
        named = _ITEM_LIMIT.search(error.detail)
        if named and 0 < int(named.group(1)) < len(texts):
            self._items = min(self._items, int(named.group(1)))
            return -(-len(texts) // self._items)
        return 2

    def _check_window(self, error: ContentError) -> None:
        named = _CONTEXT_LIMIT.search(error.detail)
        if named and (self._window is None or self._window > int(named.group(1))):
            raise ConfigError(
                f"The server's model takes {named.group(1)} tokens a text: set max_tokens to that or less. "
                f"It said: {error.detail}"
            )

    def _reserve(self, tokens: int) -> None:
        budget = self._settings.budget_tokens
        with self._lock:
            if budget is not None and self._spent_tokens + tokens > budget / self._settings.workers:
                raise ParquetryError(
                    f"The budget of {budget:,} tokens is used up. What was done is kept; run again with "
                    "another budget_tokens to go on."
                )
            self._spent_tokens += tokens

    def _compare_usage(self, usage: int, tokens: int) -> None:
        with self._lock:
            self._spent_tokens += usage - tokens
            if self._warned or self._settings.tokenizer is None or usage >= tokens:
                return
            self._warned = True
        _LOG.warning(
            "The server counted %s tokens where the tokenizer counts %s: it may cut texts off without "
            "saying so; lower max_tokens if it does.", usage, tokens,
        )  # fmt: skip

    def _refuse(self, text: str, error: ContentError) -> None:
        with self._lock:
            self._refused[sha256_hex(text)] = error

    def _put_together(
        self, rows: int, pieces: Sequence[_Piece], vectors: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """One row a text: its vector as it came, or the mean of its parts' weighted by their tokens."""
        result = np.full((rows, self.dimension), np.nan, dtype=np.float32)
        places: dict[int, list[int]] = {}
        for place, piece in enumerate(pieces):
            places.setdefault(piece.row, []).append(place)
        for row, parts in places.items():
            if len(parts) == 1:
                result[row] = vectors[parts[0]]
            else:
                weights = np.array([pieces[place].tokens for place in parts], dtype=np.float64)
                result[row] = np.add.reduce(vectors[parts] * weights[:, None]) / weights.sum()
        result[~_usable(result)] = np.nan
        return _at_length_one(result) if self._settings.normalise else result


def parts_within(text: str, counter: TokenCounter, most: int) -> list[str]:
    """The text cut between tokens into parts of about equal length, none over ``most`` tokens.

    Parts are counted again: a text cut in two can have more tokens than it had whole.
    """
    if counter.count([text])[0] <= most or len(text) < 2:
        return [text]
    spans = counter.offsets(text)
    count = -(-len(spans) // most)
    edges = {spans[len(spans) * part // count][0] for part in range(1, count)} - {0, len(text)}
    if not edges:
        edges = {len(text) // 2}
    cuts = [0, *sorted(edges), len(text)]
    parts = [text[start:end] for start, end in pairwise(cuts)]
    return [small for part in parts for small in parts_within(part, counter, most) if small.strip()]


def _in_threads(
    work: Callable[[list[_Piece]], NDArray[np.float32]], requests: Sequence[list[_Piece]], threads: int
) -> list[NDArray[np.float32]]:
    """The results in order. The first error stops what has not begun."""
    if len(requests) <= 1 or threads == 1:
        return [work(request) for request in requests]
    pool = ThreadPoolExecutor(min(threads, len(requests)))
    try:
        return list(pool.map(work, requests))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _usable(vectors: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which rows are vectors: finite, and not zero throughout."""
    finite = np.asarray(np.isfinite(vectors).all(axis=1), dtype=np.bool_)
    return np.asarray(finite & np.asarray(vectors.any(axis=1)), dtype=np.bool_)


def _at_length_one(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    wide = vectors.astype(np.float64)
    lengths: NDArray[np.float64] = np.sqrt(np.add.reduce(wide * wide, axis=1))
    return np.divide(wide, lengths[:, None]).astype(np.float32)


def _counter(settings: OpenAISettings) -> TokenCounter:
    file = _tokenizer_file(settings)
    if file is None:
        return ByteCounter()
    from transforms.embedders.wordpieces import TokenizerCounter, load_tokenizer

    return TokenizerCounter(f"{settings.model}-{sha256_hex(file)[:8]}", load_tokenizer(file))


def _tokenizer_file(settings: OpenAISettings) -> bytes | None:
    if settings.tokenizer is None:
        return None
    try:
        return Path(settings.tokenizer).expanduser().read_bytes()
    except OSError as error:
        raise ConfigError(f"The tokenizer {settings.tokenizer} cannot be read: {error.strerror}") from error

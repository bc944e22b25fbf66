"""A server that embeds: requests cut to its limits, several in flight, and nothing of it believed unchecked.

What a request is and when it is repeated is in ``request``, how fast in ``pace``, what a bad text does in
``poison``, what each provider allows in ``presets`` and how it writes in ``dialects``.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from typing import TYPE_CHECKING

import httpx
import numpy as np

from transforms.embedders.budget import Purse
from transforms.embedders.dialects import DIALECTS, Wish
from transforms.embedders.http import http_client
from transforms.embedders.in_flight import in_threads
from transforms.embedders.lengths import Piece, pieces_of, put_together
from transforms.embedders.pace import Pace
from transforms.embedders.poison import embed_around_poison
from transforms.embedders.protocol import NOT_FINITE, StoppedError
from transforms.embedders.request import ContentError, Endpoint, Halt
from transforms.embedders.tail import TailTest, same_direction, with_other_end
from transforms.embedders.tokenizer_file import tokenizer_file, tokens_of
from transforms.embedders.usage import Usage
from transforms.embedders.vectors import finished, one_for_all, usable
from transforms.model.errors import ConfigError, GuardError, ParquetryError
from transforms.model.ids import fingerprint, sha256_hex

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from transforms.embedders.presets import Limits
    from transforms.embedders.protocol import Task
    from transforms.embedders.request import Answer
    from transforms.embedders.settings import ServerSettings, TooLong
    from transforms.embedders.share import Share

_PROBE = "parquetry"
"""Embedded to tell a bad text from a server that embeds nothing."""
_ASKS_FOR_A_VECTOR = 3
"""A text that came back without a vector is asked for alone, so often in all."""
_ENVELOPE_BYTES = 512
_ITEM_LIMIT = re.compile(
    r"(?i)(?:maximum (?:allowed )?(?:batch size|length)|at most|max batch)\D{0,20}(\d+)"
)
_CONTEXT_LIMIT = re.compile(
    r"(?i)(?:(?:maximum|max) (?:context|input|model) (?:length|tokens)|context (?:length|window)|allowed token size"
    r"|current batch size|supports up to)\D{0,20}(\d+)|(?:less than|cannot exceed) (\d+) tokens"
)
"""How OpenAI, vLLM, SGLang, NIM, llama.cpp, Voyage, Bedrock, Vertex, TEI and Jina name the input of their models."""


def connect(
    settings: ServerSettings,
    limits: Limits,
    share: Share,
    *,
    headers: dict[str, str] | None = None,
    auth: httpx.Auth | None = None,
    path: str | None = None,
) -> ServerEmbedder:
    """A client for a server; nothing is sent yet.

    Args:
        settings: of the embedder.
        limits: the provider's, with what the settings override.
        share: this process's part of quotas and budget.
        headers: for every request, a key among them.
        auth: signs requests, where a key in a header is not enough.
        path: of the model below the base URL, where the dialect's own is not all of it.
    """
    dialect = DIALECTS[limits.dialect]
    http = http_client(
        headers=headers,
        auth=auth,
        timeout=settings.timeout,
        limits=httpx.Limits(max_connections=limits.concurrency),
    )
    pace = Pace(
        limits.concurrency, share.of(settings.requests_per_minute), share.of(settings.tokens_per_minute)
    )
    endpoint = Endpoint(
        http,
        limits.base_url + dialect.path(path or settings.model),
        pace,
        dialect.found,
        dimension=settings.model_dimension or settings.dimension,
        tries=settings.tries,
        deadline=settings.deadline,
        timeout=settings.timeout,
    )
    return ServerEmbedder(settings, limits, endpoint, Purse(share.budget, share.workers))


def server_recipe(settings: ServerSettings, limits: Limits) -> str:
    """As all recipes. Address, key, limits and speed are no part: a server may move."""
    return (
        f"{settings.model} dimension:{settings.dimension} asked:{settings.ask_dimension} "
        f"of:{settings.model_dimension} max_tokens:{limits.item_tokens} too_long:{settings.too_long} "
        f"normalise:{settings.normalise} "
        f"tokenizer:{sha256_hex(tokenizer_file(settings.tokenizer) or b'')[:16]} "
        f"task:{limits.task_field} {settings.document_prefix!r} {settings.query_prefix!r}"
    )


class ServerEmbedder:
    """Vectors as the server gives them. Texts that it refuses have none; :meth:`refusal` says why."""

    batch_items = 4096

    def __init__(self, settings: ServerSettings, limits: Limits, endpoint: Endpoint, purse: Purse) -> None:
        self.name = f"{settings.model}@{fingerprint(server_recipe(settings, limits))[:8]}"
        self.dimension = settings.dimension
        self.counter = tokens_of(settings.tokenizer, settings.model)
        self.too_long: TooLong = settings.too_long
        self._settings = settings
        self._limits = limits
        self._dialect = DIALECTS[limits.dialect]
        self._endpoint = endpoint
        self._purse = purse
        self._prefixes = {"document": settings.document_prefix, "query": settings.query_prefix}
        self._window = limits.item_tokens
        prefixed = max(self.counter.count(list(self._prefixes.values())))
        self.max_tokens = self._window and self._window - prefixed
        self._items = limits.items
        self._base64 = limits.base64
        self._lock = threading.Lock()
        self._usage = Usage(exact=settings.tokenizer is not None)
        self._tail_test = TailTest()
        self._refused: dict[str, ContentError] = {}

    def embed(self, texts: Sequence[str], task: Task = "document") -> NDArray[np.float32]:
        pieces = list(
            pieces_of(
                texts, self.counter, self.max_tokens, self.too_long, self._prefixes[task], self._refuse_text
            )
        )
        pieces, least_beyond = self._affordable(pieces)
        halt = Halt()
        requests = list(self._requests(pieces))
        found, error = in_threads(
            lambda request: self._solve(request, task, halt), requests, self._limits.concurrency, halt
        )
        length = self._settings.model_dimension or self.dimension
        none = np.empty((0, length), dtype=np.float32)
        vectors = np.concatenate(
            [none, *(_rows(*pair, length) for pair in zip(requests, found, strict=True))]
        )
        if error is None and task == "document":
            self._test_tail(pieces, vectors, halt)
        whole = put_together(len(texts), pieces, vectors, length)
        result = finished(whole, self.dimension, normalise=self._settings.normalise)
        self._forget_refusals(texts, result)
        if error is None and least_beyond:
            error = GuardError(
                f"Nothing was published: the budget (limits.max_tokens, limits.max_cost) is smaller than the "
                f"next text, which has {least_beyond:,} tokens{self._as_bytes()}. Raise it, or cut texts shorter; "
                "every vector that was paid for is kept."
            )
        if error is not None:
            raise StoppedError(error, result) from error
        return result

    def close(self) -> None:
        """Give the connections back."""
        self._endpoint.close()

    def refusal(self, text: str) -> tuple[str, str] | None:
        """Reason (a slug) and detail (a sentence) for a text that was refused; None for any other."""
        error = self._refused.get(sha256_hex(text))
        return None if error is None else (error.reason, error.detail)

    def notices(self) -> list[str]:
        """What was noticed since this was last asked: sentences for a person."""
        return self._usage.notices()

    def _as_bytes(self) -> str:
        """What is to be said of our count where it is several times the server's."""
        return "" if self._settings.tokenizer else ", counted in bytes for want of `embedder.tokenizer`"

    def _affordable(self, pieces: Sequence[Piece]) -> tuple[list[Piece], int]:
        """The pieces of texts that the whole budget reaches for, and the tokens of the least of the others.

        A text whose parts are not all affordable would be paid for in every run and never be done.
        """
        tokens: Counter[int] = Counter()
        for piece in pieces:
            tokens[piece.row] += piece.tokens
        beyond = {row: count for row, count in tokens.items() if not self._purse.can_ever_reach_for(count)}
        return [piece for piece in pieces if piece.row not in beyond], min(beyond.values(), default=0)

    def _requests(self, pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
        """Neighbours that go into one request within the limits; at least one."""
        request: list[Piece] = []
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

    def _test_tail(self, pieces: Sequence[Piece], vectors: NDArray[np.float32], halt: Halt) -> None:
        """Notice a server that cuts texts off, where nobody has said how long they may be."""
        place = max(range(len(pieces)), key=lambda place: len(pieces[place].text), default=None)
        if self._window is not None or place is None or not usable(vectors[place : place + 1])[0]:
            return
        text = pieces[place].text
        if not self._tail_test.is_due(text):
            return
        other = with_other_end(text)
        try:
            found = self._ask([other], self.counter.count([other])[0], "document", halt)
        except (ContentError, ParquetryError):
            # The vectors are there: what the test asks for besides is none of theirs.
            return
        if same_direction(found[0], vectors[place]):
            self._usage.tell(
                f"The server gave a text of {len(text):,} characters and one that ends otherwise the same vector: "
                "it cuts texts off without saying so. Set max_tokens to the model's input."
            )

    def _solve(self, request: Sequence[Piece], task: Task, halt: Halt) -> NDArray[np.float32]:
        """The vectors of one request's texts, with as many requests as that takes."""
        texts = [piece.text for piece in request]
        counts = {piece.text: piece.tokens for piece in request}
        vectors, refused = self._embed_around_poison(texts, counts, task, halt)
        for row in np.flatnonzero(~usable(vectors)):
            if texts[row] not in refused:
                try:
                    vectors[row], again = self._ask_alone(texts[row], counts, task, halt)
                except StoppedError as stopped:
                    raise StoppedError(stopped.cause, vectors) from stopped
                refused.update(again)
        for piece in request:
            if piece.text in refused:
                self._refuse(piece.whole, refused[piece.text])
        return vectors

    def _ask_alone(
        self, text: str, counts: dict[str, int], task: Task, halt: Halt
    ) -> tuple[NDArray[np.float32], dict[str, ContentError]]:
        for _ in range(1, _ASKS_FOR_A_VECTOR):
            vectors, refused = self._embed_around_poison([text], counts, task, halt)
            if refused or usable(vectors)[0]:
                return vectors[0], refused
        error = ContentError(NOT_FINITE, "the server gave zeros or numbers that are not finite")
        return vectors[0], {text: error}

    def _embed_around_poison(
        self, texts: Sequence[str], counts: dict[str, int], task: Task, halt: Halt
    ) -> tuple[NDArray[np.float32], dict[str, ContentError]]:
        def ask(part: Sequence[str]) -> NDArray[np.float32]:
            return self._ask(part, sum(counts[text] for text in part), task, halt)

        def is_to_blame(error: ContentError) -> bool:
            self._check_window(error)
            try:
                self._ask([_PROBE], self.counter.count([_PROBE])[0], task, halt)
            except ContentError:
                return False
            return True

        length = self._settings.model_dimension or self.dimension
        return embed_around_poison(texts, length, ask, self._cut_into, is_to_blame)

    def _ask(self, texts: Sequence[str], tokens: int, task: Task, halt: Halt) -> NDArray[np.float32]:
        asked = self.dimension if self._settings.ask_dimension else None
        as_base64 = self._base64
        wish = Wish(self._settings.model, texts, task, asked, base64=as_base64)
        try:
            answer = self._paid(wish, tokens, halt)
        except ContentError as error:
            if as_base64 and re.search("encoding_format|base64", error.detail):
                self._base64 = False
                return self._ask(texts, tokens, task, halt)
            raise
        if one_for_all(texts, answer.vectors):
            raise GuardError(
                f"Nothing was published: the server gave one and the same vector for {len(texts)} texts that differ, "
                f"as if {self._settings.model} did not read them. Ask it for two texts and compare."
            )
        if answer.usage is not None:
            self._usage.compare(answer.usage, tokens, len(texts))
        return answer.vectors

    def _paid(self, wish: Wish, tokens: int, halt: Halt) -> Answer:
        """The answer to one request, out of the budget: what the server counts, else our own count."""
        self._purse.reserve(tokens)
        spent = tokens
        try:
            answer = self._endpoint.ask(self._dialect.body(wish, self._limits), wish.texts, tokens, halt)
            spent = tokens if answer.usage is None else answer.usage
        except ContentError as error:
            # What a server refuses it does not bill; what it answers badly it may.
            spent = tokens if error.answered else 0
            raise
        finally:
            self._purse.settle(tokens, spent)
        return answer

    def _cut_into(self, texts: Sequence[str], error: ContentError) -> int:
        """Into how many parts a refused request is cut; a limit that the server names is learnt."""
        named = _ITEM_LIMIT.search(error.detail)
        if named and 0 < int(named.group(1)) < len(texts):
            self._items = min(self._items, int(named.group(1)))
            return -(-len(texts) // self._items)
        return 2

    def _check_window(self, error: ContentError) -> None:
        named = _CONTEXT_LIMIT.search(error.detail)
        limit = int(named[1] or named[2]) if named else 0
        if limit and (self._window is None or self._window > limit):
            raise ConfigError(
                f"The server's model takes {limit} tokens a text: set max_tokens to that or less. "
                f"It said: {error.detail}"
            )

    def _forget_refusals(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """A text that has its vector now is refused no more."""
        with self._lock:
            if self._refused:
                for row in np.flatnonzero(usable(vectors)).tolist():
                    self._refused.pop(sha256_hex(texts[row]), None)

    def _refuse_text(self, text: str, reason: str, detail: str) -> None:
        self._refuse(text, ContentError(reason, detail))

    def _refuse(self, text: str, error: ContentError) -> None:
        with self._lock:
            self._refused[sha256_hex(text)] = error


def _rows(
    request: Sequence[Piece], vectors: NDArray[np.float32] | None, length: int
) -> NDArray[np.float32]:
    return np.full((len(request), length), np.nan, dtype=np.float32) if vectors is None else vectors

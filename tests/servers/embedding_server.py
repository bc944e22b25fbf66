"""A real HTTP server on loopback with OpenAI's interface for embeddings, and faults on request.

Vectors are those of an embedder of this program, so that a client's table can be compared with the one
made without a server. Faults come one after the other (``script``), by chance from a seed (``chance``), or
whenever a request deserves them (limits, poison, quota, key).
"""

from __future__ import annotations

import base64
import json
import random
import socket
import struct
import threading
import time
from collections import Counter, deque
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from transforms.embedders.protocol import Embedder

CHANGES_THE_ANSWER = ("shuffled", "floats", "missing", "extra", "twice", "nan", "dimension", "zeros")
INSTEAD_OF_IT = (
    "429", "429-after", "429-date", "408", "409", "500", "502", "503", "reset", "cut", "html", "not-json",
    "hang", "empty-object", "trickle",
)  # fmt: skip
SLOW = ("slow",)


@dataclass
class Rules:
    """What the server refuses by rule; None: nothing."""

    max_items: int | None = None
    max_item_tokens: int | None = None
    max_bytes: int | None = None
    poison: dict[str, int] = field(default_factory=dict)
    """Substring of a text, and the status that a request with such a text gets."""
    firewall: str | None = None
    """Substring of a text for which a firewall before the server answers, with a page and 403."""
    too_long: str = (
        "This model's maximum context length is {limit} tokens, however you requested {given} tokens"
    )
    """What is said of a text over ``max_item_tokens``."""
    key: str | None = None
    per_second: float | None = None
    retry_after: float | None = None
    base64: bool = True
    model: str = "static"
    truncates_at: int | None = None
    """Tokens that are used of each text; the rest is dropped without a word, as some servers do."""
    broken_after: int | None = None
    """Requests that are answered before every other gets 401."""
    broken: int | None = None
    """Status of every request, whatever it holds."""
    echo: bool = False
    """Whether a refusal repeats the key that it was sent."""


class EmbeddingServer:
    """Use it as a context manager; ``url`` is the base URL for a client."""

    def __init__(self, embedder: Embedder, rules: Rules | None = None, seed: int = 1) -> None:
        self.embedder = embedder
        self.rules = rules or Rules()
        self.script: deque[str] = deque()
        self.chance: dict[str, float] = {}
        self.statuses: Counter[int | str] = Counter()
        self.faults: Counter[str] = Counter()
        self.texts: list[list[str]] = []
        self.bodies: list[dict[str, Any]] = []
        self.times: list[tuple[float, int | str]] = []
        self.most_at_once = 0
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._at_once = 0
        self._allowance = 1.0
        self._allowed_at = time.monotonic()
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.owner = self

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def __enter__(self) -> EmbeddingServer:
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def next_fault(self) -> str | None:
        with self._lock:
            if self.script:
                return self.script.popleft()
            draw = self._random.random()
            for name, share in self.chance.items():
                if draw < share:
                    self.faults[name] += 1
                    return name
                draw -= share
        return None

    def over_quota(self) -> bool:
        """A token bucket of one second's requests."""
        if self.rules.per_second is None:
            return False
        with self._lock:
            now = time.monotonic()
            earned = (now - self._allowed_at) * self.rules.per_second
            self._allowance = min(max(1.0, self.rules.per_second), self._allowance + earned)
            self._allowed_at = now
            if self._allowance < 1:
                return True
            self._allowance -= 1
            return False

    def note(self, status: int | str) -> None:
        with self._lock:
            self.statuses[status] += 1
            self.times.append((time.monotonic(), status))

    def enter(self, texts: list[str], step: int) -> None:
        with self._lock:
            if step > 0:
                self.texts.append(texts)
            self._at_once += step
            self.most_at_once = max(self.most_at_once, self._at_once)


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    owner: EmbeddingServer

    def handle_error(self, *_: object) -> None:
        """A client that hangs up is part of the tests, not news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Without this, the small packets of an answer wait for the client's acknowledgement: 40 ms each.
    disable_nagle_algorithm = True
    server: _Http

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        owner = self.server.owner
        body = self.rfile.read(int(self.headers["Content-Length"]))
        request = json.loads(body)
        texts = [request["input"]] if isinstance(request["input"], str) else request["input"]
        owner.bodies.append(request)
        owner.enter(texts, +1)
        blocked = owner.rules.firewall
        try:
            if blocked is not None and any(blocked in text for text in texts):
                return self._send(
                    403, b"<html><title>Blocked</title></html>", {"Content-Type": "text/html"}
                )
            self._answer(owner, request, texts, len(body))
        finally:
            owner.enter(texts, -1)

    def _answer(self, owner: EmbeddingServer, request: dict[str, Any], texts: list[str], size: int) -> None:
        refusal = self._refusal(owner, request, texts, size)
        if refusal:
            echo = f" ({self.headers['Authorization'].split()[-1]})" if owner.rules.echo else ""
            return self._send(refusal[0], {"error": {"message": refusal[1] + echo}}, refusal[2])
        fault = owner.next_fault()
        if fault in INSTEAD_OF_IT:
            return self._fail(fault)
        return self._send(200, self._embeddings(owner, request, texts, fault), slow=fault == "slow")

    def _refusal(
        self, owner: EmbeddingServer, request: dict[str, Any], texts: list[str], size: int
    ) -> tuple[int, str, dict[str, str]] | None:
        rules = owner.rules
        if rules.key is not None and self.headers.get("Authorization") != f"Bearer {rules.key}":
            return 401, f"Incorrect API key provided: {self.headers.get('Authorization')}", {}
        if request.get("model") != rules.model:
            return 404, f"The model `{request.get('model')}` does not exist", {}
        if rules.broken_after is not None and len(owner.bodies) > rules.broken_after:
            return 401, "the key was revoked", {}
        if rules.broken is not None:
            return rules.broken, "this server is broken", {}
        if owner.over_quota():
            after = {} if rules.retry_after is None else {"Retry-After": str(rules.retry_after)}
            return 429, "Rate limit reached", after
        if not rules.base64 and request.get("encoding_format") == "base64":
            return 400, "encoding_format: base64 is not supported", {}
        if rules.max_items is not None and len(texts) > rules.max_items:
            return 422, f"batch size {len(texts)} > maximum allowed batch size {rules.max_items}", {}
        if rules.max_bytes is not None and size > rules.max_bytes:
            return 413, "Payload Too Large", {}
        return self._refused_text(owner, texts)

    @staticmethod
    def _refused_text(owner: EmbeddingServer, texts: list[str]) -> tuple[int, str, dict[str, str]] | None:
        rules = owner.rules
        if any(not text.strip() for text in texts):
            return 400, "'$.input' is invalid: an empty string", {}
        for mark, status in rules.poison.items():
            if any(mark in text for text in texts):
                return status, "this input cannot be embedded", {}
        if rules.max_item_tokens is not None:
            most = max(owner.embedder.counter.count(texts))
            if most > rules.max_item_tokens:
                return 400, rules.too_long.format(limit=rules.max_item_tokens, given=most), {}
        return None

    def _embeddings(
        self, owner: EmbeddingServer, request: dict[str, Any], texts: list[str], fault: str | None
    ) -> dict[str, Any]:
        counts = owner.embedder.counter.count(texts)
        cut_at = owner.rules.truncates_at
        if cut_at is not None:
            texts = [_first_tokens(owner.embedder, text, cut_at) for text in texts]
            counts = [min(count, cut_at) for count in counts]
        vectors = np.nan_to_num(owner.embedder.embed(texts, "document"), nan=0.5)
        vectors = _spoiled(vectors, fault)
        as_base64 = request.get("encoding_format") == "base64" and fault != "floats"
        data = [
            {"object": "embedding", "index": index, "embedding": _encoded(row, as_base64)}
            for index, row in enumerate(vectors)
        ]
        if fault == "shuffled":
            data = data[::-1]
        if fault == "missing":
            data = data[:-1]
        if fault == "extra":
            data = [*data, {**data[-1], "index": len(data)}]
        if fault == "twice":
            data = [data[0], *data[:-1]]
        usage = {"prompt_tokens": sum(counts), "total_tokens": sum(counts)}
        return {"object": "list", "data": data, "model": request["model"], "usage": usage}

    def _fail(self, fault: str) -> None:
        if fault == "reset":
            self.server.owner.note("reset")
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
        elif fault == "hang":
            self.server.owner.note("hang")
            time.sleep(3)
            self.close_connection = True
        elif fault == "trickle":
            self._send(200, b"x" * 30, trickle=True)
        elif fault == "cut":
            self._send(200, {"data": []}, cut=True)
        elif fault in {"html", "not-json", "empty-object"}:
            bodies = {"html": b"<html>welcome</html>", "not-json": b'{"data": [', "empty-object": b"{}"}
            self._send(200, bodies[fault], {"Content-Type": "text/html"} if fault == "html" else None)
        else:
            date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 1))
            after = {"429-after": {"Retry-After": "0.2"}, "429-date": {"Retry-After": date}}
            self._send(int(fault[:3]), {"error": {"message": fault}}, after.get(fault))

    def _send(
        self,
        status: int,
        content: dict[str, Any] | bytes,
        headers: dict[str, str] | None = None,
        *,
        slow: bool = False,
        cut: bool = False,
        trickle: bool = False,
    ) -> None:
        self.server.owner.note("cut" if cut else status)
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) + (100 if cut else 0)))
        self.end_headers()
        with suppress(OSError):
            if slow:
                self.wfile.write(body[: len(body) // 2])
                self.wfile.flush()
                time.sleep(0.1)
                body = body[len(body) // 2 :]
            while trickle and body:
                self.wfile.write(body[:1])
                self.wfile.flush()
                time.sleep(0.1)
                body = body[1:]
            self.wfile.write(body)
        if cut:
            self.close_connection = True


def _first_tokens(embedder: Embedder, text: str, count: int) -> str:
    spans = embedder.counter.offsets(text)
    return text if len(spans) <= count else text[: spans[count - 1][1]]


def _spoiled(vectors: np.ndarray, fault: str | None) -> np.ndarray:
    if fault == "nan":
        vectors = vectors.copy()
        vectors[0, 0] = np.nan
    if fault == "zeros":
        vectors = np.zeros_like(vectors)
    if fault == "dimension":
        vectors = vectors[:, :-1]
    return vectors


def _encoded(row: np.ndarray, as_base64: bool) -> str | list[float]:
    if as_base64:
        return base64.b64encode(row.astype("<f4").tobytes()).decode()
    return [float(number) for number in row]

"""A proxy on loopback that stands before a real server and breaks what it is told to break.

Each request meets the next of ``faults``; when there are none left, all goes well. A status (``429``, ``503``) is
answered with no more than that, ``reset`` breaks the connection before the request was passed on, ``lost`` after it
was carried out, ``cut`` sends half of the body that was announced, ``garbled`` changes a byte of it, ``slow`` sends
it in pieces, ``stall`` half of it and then nothing until the client has gone, and a ``Refusal`` is answered as it is.
"""

from __future__ import annotations

import http.client
import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_PIECES = 10
_HOP = {"transfer-encoding", "connection", "content-length", "expect"}


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a service says."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


class TroubledProxy:
    """Starts at once; ``url`` is where it listens."""

    def __init__(self, upstream: str) -> None:
        self.faults: deque[str | Refusal] = deque()
        self._server = _Server(upstream.removeprefix("http://"), self.faults)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, upstream: str, faults: deque[str | Refusal]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = upstream
        self.faults = faults


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def handle(self) -> None:
        with suppress(ConnectionError):
            super().handle()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass

    def _pass_on(self) -> None:
        fault = self.server.faults.popleft() if self.server.faults else ""
        body = self._body()
        if fault == "reset":
            self.close_connection = True
            return
        status, headers, answer, length = self._ask(body) if _reaches(fault) else _refusal(fault)
        if fault == "lost":
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", length)
        self.end_headers()
        self._send(answer, fault)

    def _send(self, answer: bytes, fault: str | Refusal) -> None:
        half = len(answer) // 2
        if fault == "garbled" and answer:
            answer = answer[:half] + bytes([answer[half] ^ 1]) + answer[half + 1 :]
        if fault in {"cut", "stall"}:
            self.close_connection = True
            answer = answer[:half]
        step = max(1, len(answer) // _PIECES) if fault == "slow" else max(1, len(answer))
        for first in range(0, len(answer), step):
            self.wfile.write(answer[first : first + step])
            # What tests do to time.sleep is for clients.
            threading.Event().wait(0.02 if fault == "slow" else 0)
        if fault == "stall":
            self.wfile.flush()
            self.connection.settimeout(30)
            with suppress(OSError):
                self.connection.recv(1)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = do_PATCH = _pass_on  # noqa: N815

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _ask(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes, str]:
        connection = http.client.HTTPConnection(self.server.upstream, timeout=30)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP}
        connection.request(self.command, self.path, body or None, headers)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        # The answer to HEAD has the length of a body that does not come.
        length = answer.getheader("Content-Length", "0") if self.command == "HEAD" else str(len(data))
        kept = [(name, value) for name, value in answer.getheaders() if name.lower() not in _HOP]
        return answer.status, kept, data, length


def _reaches(fault: str | Refusal) -> bool:
    return isinstance(fault, str) and not fault.isdigit()


def _refusal(fault: str | Refusal) -> tuple[int, list[tuple[str, str]], bytes, str]:
    refusal = fault if isinstance(fault, Refusal) else Refusal(int(fault))
    return refusal.status, [*refusal.headers], refusal.body, str(len(refusal.body))

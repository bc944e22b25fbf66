"""A small web server on loopback for a test's own store: routes by method and pattern, JSON there and back."""

from __future__ import annotations

import json
import re
import threading
import traceback
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit


class RefusalError(Exception):
    """An answer other than 200."""

    def __init__(self, status, content, headers=None):
        super().__init__(status)
        self.status = status
        self.content = content
        self.headers = headers or {}


class Request:
    def __init__(self, method, path, query, headers, body):
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)


@contextmanager
def serving(app):
    """The URL of a server that ends with the block; ``app(request)`` gives the content, or raises RefusalError."""
    http = _Http(("127.0.0.1", 0), _Handler)
    http.app = app
    thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_port}"
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


def routed(routes, request):
    """The first route whose method and pattern are those of the request."""
    for method, pattern, handler in routes:
        found = re.fullmatch(pattern, request.path)
        if found and method == request.method:
            return handler(request, *(unquote(part) for part in found.groups()))
    raise RefusalError(405, {"error": f"no route for {request.method} {request.path}"})


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        """A client that is killed is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def _answer(self):
        parts = urlsplit(self.path)
        query = {key: values[-1] for key, values in parse_qs(parts.query, keep_blank_values=True).items()}
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = Request(self.command, parts.path, query, self.headers, body)
        status, headers = 200, {}
        try:
            content = self.server.app(request)
        except RefusalError as refusal:
            status, content, headers = refusal.status, refusal.content, refusal.headers
        except Exception:  # noqa: BLE001 - a fault of the test's own server is to be seen
            status, content = 500, {"error": traceback.format_exc()}
        data = json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    do_GET = do_PUT = do_PATCH = do_POST = do_DELETE = _answer  # noqa: N815 - names that the base class calls

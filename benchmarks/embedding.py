"""Embedders: chunks a CPU second, tokenising apart; the client against a bare loop; a storm of refusals.

    python benchmarks/embedding.py [--kinds static hash minilm] [--client] [--storm SECONDS]

CPU seconds are user and system time of the process, the best of several runs. The client and a bare httpx
loop ask the same server, a process of its own, for the same texts in the same requests; its answers
cost it nothing, so that what is compared is the asking. In the storm, four clients that know no quota share
a server that bears ten requests a second.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.servers.embedding_server import EmbeddingServer, Rules  # noqa: E402 - no installed package
from transforms.embedders.dialects import DIALECTS  # noqa: E402
from transforms.embedders.openai import build  # noqa: E402
from transforms.embedders.registry import make_embedder  # noqa: E402
from transforms.embedders.request import parse_answer  # noqa: E402
from transforms.embedders.settings import (  # noqa: E402
    HashSettings,
    MiniLMSettings,
    OpenAISettings,
    StaticSettings,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

SETTINGS = {"static": StaticSettings(), "hash": HashSettings(), "minilm": MiniLMSettings()}
COUNTS = {"static": 2000, "hash": 2000, "minilm": 20}
TOKENS = 200
DIMENSION = 256
_WORDS = (ROOT / "README.md").read_text(encoding="utf-8").split()


def chunks_of(tokens: int, count: int, seed: int = 1) -> list[str]:
    """Texts of about that many tokens of the static model, from the words of the README."""
    draw = random.Random(seed)
    counter = make_embedder(StaticSettings()).counter
    text = " ".join(draw.choices(_WORDS, k=20 * tokens))
    words = tokens * 20 * tokens // counter.count([text])[0]
    return [" ".join(draw.choices(_WORDS, k=words)) for _ in range(count)]


def cpu_seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def best_cpu_seconds(work: Callable[[], object]) -> float:
    return min(cpu_seconds(work) for _ in range(5))


def measure_kind(kind: str) -> None:
    embedder = make_embedder(SETTINGS[kind])
    # Other texts each time: pieces of lines are remembered.
    sets = iter([chunks_of(TOKENS, COUNTS[kind], seed) for seed in range(10)])
    texts = range(COUNTS[kind])
    tokenising = best_cpu_seconds(lambda: embedder.counter.count(next(sets)))
    embedding = best_cpu_seconds(lambda: embedder.embed(next(sets)))
    print(
        f"{kind:8} {len(texts) / embedding:10,.1f} chunks a CPU second; "
        f"tokenising alone {len(texts) / tokenising:10,.1f}"
    )


def _serve(pipe: Connection) -> None:
    with EmbeddingServer(_Ready()) as server:
        pipe.send(server.url)
        pipe.recv()


class _Ready:
    """Vectors that cost nothing."""

    def __init__(self) -> None:
        self.counter = self

    def count(self, texts: list[str]) -> list[int]:
        return [len(text) // 4 for text in texts]

    def embed(self, texts: list[str], task: str) -> np.ndarray:  # noqa: ARG002 - the protocol's
        return np.ones((len(texts), DIMENSION), dtype=np.float32)


def measure_client() -> None:
    pipe, other = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(other,))
    server.start()
    url = pipe.recv()
    texts = chunks_of(TOKENS, 3200)
    settings = OpenAISettings(
        preset="vllm", base_url=url, model="static", dimension=DIMENSION, max_items=32, max_concurrency=1
    )
    client = build(settings)
    found = DIALECTS["openai"].found

    def bare() -> None:
        with httpx.Client() as http:
            for first in range(0, len(texts), 32):
                body = {"model": "static", "input": texts[first : first + 32], "encoding_format": "base64"}
                parse_answer(http.post(f"{url}/embeddings", json=body), 32, DIMENSION, found)

    # In turn, so that both see the same machine.
    pairs = [(cpu_seconds(bare), cpu_seconds(lambda: client.embed(texts))) for _ in range(10)]
    bare_seconds, client_seconds = (min(column) for column in zip(*pairs, strict=True))
    client.close()
    pipe.send("stop")
    server.join()
    print(
        f"client   {client_seconds:.3f} CPU s for {len(texts):,} texts in requests of 32; bare httpx loop "
        f"{bare_seconds:.3f}: {client_seconds / bare_seconds - 1:+.0%}"
    )


def measure_storm(seconds: float) -> None:
    with EmbeddingServer(make_embedder(HashSettings(dimension=8)), Rules(per_second=10)) as server:
        began = time.monotonic()
        settings = OpenAISettings(
            preset="vllm", base_url=server.url, model="static", dimension=8, max_items=1
        )

        def work(worker: int) -> None:
            client = build(settings)
            while time.monotonic() - began < seconds:
                client.embed([f"{worker} {time.monotonic()} {number}" for number in range(20)])
            client.close()

        workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    for name, first, last in (("first 10 s", 0.0, 10.0), ("after that", 10.0, float("inf"))):
        statuses = Counter(status for at, status in server.times if first <= at - began < last)
        total = max(1, statuses.total())
        print(f"storm, {name}: {total} requests, {statuses[429] / total:.1%} answered 429")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--kinds", nargs="*", choices=sorted(SETTINGS), default=["static", "hash"])
    options.add_argument("--client", action="store_true")
    options.add_argument("--storm", type=float, metavar="SECONDS")
    chosen = options.parse_args()
    for kind in chosen.kinds:
        measure_kind(kind)
    if chosen.client:
        measure_client()
    if chosen.storm:
        measure_storm(chosen.storm)


if __name__ == "__main__":
    main()

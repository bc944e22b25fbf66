"""How many requests a bucket answers: listing, a first night, a quiet one, and one with a change in a hundred.

    python benchmarks/storage.py [--objects 10000] [--store azure gcs s3] [--shard-bytes N]
    python benchmarks/storage.py --latency 0.05 [--at-once 1]

Objects of 200 bytes lie in a bucket on a server that is started for it. What is counted is every HTTP request that
leaves the client, repeated ones too, by bucket and by what it does; putting the objects there is not counted. Counts
are those of the services too, as long as nothing has to be repeated. Seconds on a loopback say little of a network:
with ``--latency`` each request waits so long before it is sent, and ``--at-once 1`` reads one object after the other.
fake-gcs-server takes longer for each object the more it has: 10,000 take many minutes.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import urllib3

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from pipeline.config import JobConfig  # noqa: E402 - the folder is no installed package
from pipeline.run import run_job  # noqa: E402
from tests.servers.buckets import SERVERS, environment, new_bucket  # noqa: E402
from transforms.stages import read  # noqa: E402
from transforms.storage.registry import open_store  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OPERATIONS = ("list", "stat", "read", "write", "copy", "delete")
_COPIES = {"x-amz-copy-source", "x-ms-copy-source"}
CHANGED = 100
"""One object in so many is written anew before the last night."""


def main() -> None:
    """Count, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--objects", type=int, default=10_000)
    parser.add_argument("--store", nargs="+", choices=sorted(SERVERS), default=sorted(SERVERS))
    parser.add_argument("--shard-bytes", type=int, default=4 * 2**20)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds")
    parser.add_argument("--at-once", type=int, default=read.AT_ONCE)
    args = parser.parse_args()
    print(f"| store | what | seconds | bucket | {' | '.join(OPERATIONS)} |")
    print(f"|---|---|---|---|{'---|' * len(OPERATIONS)}")
    for kind in args.store:
        with (
            SERVERS[kind]() as url,
            mock.patch.dict(os.environ, environment(kind, url)),
            mock.patch.object(read, "AT_ONCE", args.at_once),
        ):
            for step, work in steps(kind, args.objects, args.shard_bytes):
                start = time.monotonic()
                counts = counted(work, args.latency)
                seconds = time.monotonic() - start
                for place in sorted({place for place, _ in counts}):
                    row = " | ".join(f"{counts[place, operation]:,}" for operation in OPERATIONS)
                    print(f"| {kind} | {step} | {seconds:.1f} | {place} | {row} |", flush=True)


def steps(kind: str, objects: int, shard_bytes: int) -> Iterator[tuple[str, Callable[[], object]]]:
    """Each step's name and its work, after what has to be there for it."""
    corpus, table = new_bucket(kind, "corpus"), new_bucket(kind, "table")
    config = JobConfig.model_validate(
        {
            "table": f"{table}/t",
            "embedder": {"kind": "hash", "dimension": 8},
            "sources": [{"name": "docs", "root": f"{corpus}/docs"}],
            "run": {"workers": 1, "shard_bytes": shard_bytes},
        }
    )
    store = open_store(f"{corpus}/docs")

    def put(numbers: range, mark: str) -> None:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda n: store.write(_name(n), _page(n, mark)), numbers))

    put(range(objects), "first")
    yield "listing", lambda: [len(page) for page in store.list()]
    yield "first night", lambda: run_job(config)
    yield "quiet night", lambda: run_job(config)
    put(range(0, objects, CHANGED), "second")
    yield f"one in {CHANGED} changed", lambda: run_job(config)


def counted(work: Callable[[], object], latency: float) -> Counter[tuple[str, str]]:
    """The requests that leave this process while something is done, by ``(corpus or table, operation)``."""
    counts: Counter[tuple[str, str]] = Counter()
    send = urllib3.HTTPConnectionPool.urlopen

    def urlopen(pool: Any, method: str, url: str, *args: Any, **more: Any) -> Any:
        place = "corpus" if "corpus-" in url else "table"
        counts[place, operation(method, url, more.get("headers") or {})] += 1
        time.sleep(latency)
        return send(pool, method, url, *args, **more)

    with (
        mock.patch.object(urllib3.HTTPConnectionPool, "urlopen", urlopen),
        contextlib.redirect_stdout(sys.stderr),
    ):
        work()
    return counts


def operation(method: str, url: str, headers: Any) -> str:
    """What a request of one of the services' interfaces does."""
    path, _, query = url.partition("?")
    if method == "DELETE" or (method == "POST" and (query == "delete" or "comp=batch" in query)):
        return "delete"
    if "/rewriteTo/" in path or _COPIES & {name.lower() for name in headers}:
        return "copy"
    if method in {"PUT", "POST"}:
        return "write"
    if method == "HEAD":
        return "stat"
    if path.endswith("/o") or "list-type=2" in query or "comp=list" in query:
        return "list"
    # Google's answer is the object itself where it is asked for as media, else what is known of it.
    return (
        "stat"
        if "/storage/v1/b/" in path and "/download/" not in path and "alt=media" not in query
        else "read"
    )


def _name(number: int) -> str:
    return f"{number // 1000:04}/{number:07}.md"


def _page(number: int, mark: str) -> bytes:
    return f"# Page {number}\n\n{f'A sentence of the {mark} state of page {number}. ' * 4}\n".encode()


if __name__ == "__main__":
    main()

"""What listing a bucket of a million objects takes of a worker: CPU, memory, requests.

    python benchmarks/listing.py [--objects 1000000] [--folders 200] [--latency 0.05]

The service is a generator in this process that answers boto3's listing as its parser would: what is measured is all
that comes after. With ``--latency`` each answer takes so long, as over a network.
"""

from __future__ import annotations

import argparse
import datetime
import resource
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest import mock

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from transforms.planning.listing import listing_tables  # noqa: E402 - the folder is no installed package
from transforms.planning.selection import EVERYTHING  # noqa: E402
from transforms.storage.s3 import S3Store  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = 1_000
NOW = datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC)


def main() -> None:
    """Measure once, and print a line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--objects", type=int, default=1_000_000)
    parser.add_argument("--folders", type=int, default=200)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds")
    args = parser.parse_args()
    service = Service(args.objects, args.folders, args.latency)
    source = SimpleNamespace(root="s3://corpus", include=("**",), exclude=("**/.*",), inventory=None)
    job: Any = SimpleNamespace(table="s3://table/t", source={"docs": source}, selection=EVERYTHING)
    with mock.patch.object(S3Store, "_open_client", return_value=service):
        before, start, cpu = _peak(), time.monotonic(), time.process_time()
        rows = sum(table.num_rows for table in listing_tables(job, "docs"))
    print(
        f"{rows:,} objects: {time.monotonic() - start:.1f} s, {time.process_time() - cpu:.1f} s of CPU, "
        f"{service.requests:,} requests, {service.most} at once, peak memory {_peak()} MiB ({before} before)"
    )


class Service:
    """What the adapter asks of boto3: pages of a listing, and levels of it. A thousand folders at most."""

    def __init__(self, objects: int, folders: int, latency: float) -> None:
        self._each = objects // folders
        self._folders = folders
        self._latency = latency
        self._lock = threading.Lock()
        self._now = 0
        self.requests = 0
        self.most = 0

    def get_paginator(self, _: str) -> Service:
        return self

    def close(self) -> None:
        """Nothing is open."""

    def paginate(self, *, Prefix: str, Delimiter: str = "", **_: str) -> Iterator[dict[str, Any]]:  # noqa: N803
        if Delimiter and not Prefix:
            self._wait()
            yield {"CommonPrefixes": [{"Prefix": f"{folder:04}/"} for folder in range(self._folders)]}
            return
        folders = (
            range(int(Prefix.strip("/")), int(Prefix.strip("/")) + 1) if Prefix else range(self._folders)
        )
        numbers = range(folders[0] * self._each, (folders[-1] + 1) * self._each)
        for first in range(0, len(numbers), PAGE):
            self._wait()
            truncated = first + PAGE < len(numbers)
            yield {
                "Contents": [self._object(n) for n in numbers[first : first + PAGE]],
                "IsTruncated": truncated,
            }
            if Delimiter:
                return

    def _object(self, number: int) -> dict[str, Any]:
        name = f"{number // self._each:04}/page-of-the-handbook-{number:09}.md"
        return {"Key": name, "Size": 4_096, "ETag": f'"{number:032x}"', "LastModified": NOW}

    def _wait(self) -> None:
        with self._lock:
            self.requests += 1
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(self._latency)
        with self._lock:
            self._now -= 1


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()

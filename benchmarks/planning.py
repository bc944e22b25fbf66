"""How long planning takes, and how much memory: as many listed objects as documents, one in a hundred changed.

    python benchmarks/planning.py [--objects 100000 300000 1000000] [--changed 0.01]

The documents table is one of real files, made by the table's own writer; the listing is a store that answers from
memory, in pages of 1,000 as a bucket's. What is measured is a process that plans the source as a run does:
listing, reading the documents' columns, comparing, cutting shards, writing the plan. Besides, one in a thousand
objects is new and one in a thousand gone.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.e2e import measure  # noqa: E402 - the folder is no installed package
from pipeline.config import JobConfig  # noqa: E402
from pipeline.job import make_job  # noqa: E402
from transforms.model.ids import sha256_hex  # noqa: E402
from transforms.model.objects import ObjectInfo  # noqa: E402
from transforms.model.shard import FileInfo  # noqa: E402
from transforms.planning import listing  # noqa: E402
from transforms.planning.source import plan_alone  # noqa: E402
from transforms.stages.plans import keep_plan  # noqa: E402
from transforms.storage.registry import open_store  # noqa: E402
from transforms.table.layout import DOCUMENTS, shard_path  # noqa: E402
from transforms.table.publish import Draft, publish  # noqa: E402
from transforms.table.schema import DOCUMENTS as COLUMNS  # noqa: E402
from transforms.table.writer import write_table  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transforms.stages.job import Job
    from transforms.storage.protocol import Store

A_SHARD = 2_500
"""Documents of a shard: 8 MiB of pages of 3 KB."""
PAGE = 1_000
EVERY = 1_000
"""One object in so many is new, and one gone."""


def main() -> None:
    """Measure, and print a table in Markdown."""
    args = _arguments()
    if args.plan:
        print(json.dumps(plan(Path(args.plan), args.objects[0], args.changed)))
        return
    rows = []
    for objects in args.objects:
        with tempfile.TemporaryDirectory(prefix="parquetry-bench-") as folder:
            make_table(Path(folder), objects)
            command = [sys.executable, __file__, "--plan", folder, "--objects", str(objects)]
            found, usage = measure([*command, "--changed", str(args.changed)])
            rows.append((objects, found, usage(found["listed"], 0)))
            print(f"{objects:,}: {rows[-1][2].wall_seconds:.1f} s", file=sys.stderr)
    head = "| objects | shards | read | seconds | CPU s | peak MB | plan KB |"
    print("\n".join([head, "|" + "---|" * 7]))
    for objects, found, usage in rows:
        print(
            f"| {objects:,} | {found['shards']:,} | {found['reads']:,} | {found['seconds']:.1f} "
            f"| {usage.cpu_seconds:.1f} | {usage.peak_mb:,.0f} | {found['plan_bytes'] / 1024:,.0f} |"
        )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--objects", type=int, nargs="+", default=[100_000, 300_000, 1_000_000])
    parser.add_argument("--changed", type=float, default=0.01)
    parser.add_argument("--plan", help=argparse.SUPPRESS)
    return parser.parse_args()


def job_of(folder: Path) -> Job:
    """A job that continues snapshot 1 of the table in a folder."""
    (folder / "corpus").mkdir(exist_ok=True)
    config = JobConfig.model_validate(
        {
            "table": str(folder / "table"),
            "embedder": {"kind": "hash"},
            "sources": [{"name": "pages", "root": str(folder / "corpus")}],
        }
    )
    return make_job(config, "bench", 2, 1)


def name_of(number: int) -> str:
    """Names of some fifty characters, as paths of pages are."""
    return f"handbook/part-{number // 200:06d}/section-{number % 7}/page-{number:08d}.md"


def make_table(folder: Path, objects: int) -> None:
    """Publish a snapshot with that many documents. Chunks have no part in planning, and there are none."""
    job, store = job_of(folder), open_store(str(folder / "table"))
    files = [
        _write_shard(job, store, first, min(objects, first + A_SHARD))
        for first in range(0, objects, A_SHARD)
    ]
    counts = {"documents": objects, "chunks": 0, "embedded": 0, "reused": 0, "rejected": 0, "deleted": 0}
    publish(
        store,
        Draft(1, None, "bench", job.recipe, tuple(files), (), (), {}, {"pages": counts}, counts),
    )


def _write_shard(job: Job, store: Store, first: int, last: int) -> FileInfo:
    source, count = job.source["pages"], last - first
    names = [name_of(number) for number in range(first, last)]
    known = {
        "source_name": [source.name] * count,
        "doc_id": names,
        "object_name": names,
        "doc_uri": [open_store(source.root).uri(name) for name in names],
        "status": ["ok"] * count,
        "object_size": [3_000 + number % 500 for number in range(first, last)],
        "object_token": [token_of(number) for number in range(first, last)],
        "object_sha256": [sha256_hex(name) for name in names],
        "media_type": ["text/markdown"] * count,
        "metadata": ["{}"] * count,
        "warnings": [[]] * count,
        "text": [f"# Page {number}\n\n" + "Words of a page. " * 20 for number in range(first, last)],
        "text_sha256": [sha256_hex(f"text {name}") for name in names],
        "text_chars": [350] * count,
        "blocks": [[]] * count,
        "pages": [[]] * count,
        "chunk_count": [4] * count,
        "extract_recipe": [source.recipe.extract] * count,
        "chunk_recipe": [source.recipe.chunk] * count,
        "embed_recipe": [source.recipe.embed] * count,
        "changed_in": [1] * count,
    }
    arrays = [
        pa.array(known[field.name], field.type) if field.name in known else pa.nulls(count, field.type)
        for field in COLUMNS
    ]
    shard = sha256_hex(names[0])[:16]
    path = shard_path(1, DOCUMENTS, source.slug, shard)
    return write_table(store, path, pa.table(arrays, schema=COLUMNS), source.name, job.recipe)


def token_of(number: int) -> str:
    """A version as a local folder gives it."""
    return f"{3_000 + number % 500}-{1_700_000_000_000_000_000 + number * 1_000_003}"


class Listed:
    """A store that lists from memory: the table's objects, some changed, some new, some gone."""

    lists_apart = False

    def __init__(self, root: str, objects: int, changed: float) -> None:
        self.root = root
        self._objects = objects
        self._every = round(1 / changed)

    def list(self, prefix: str = "") -> Iterator[list[ObjectInfo]]:  # noqa: ARG002 - the protocol's
        for first in range(0, self._objects, PAGE):
            numbers = range(first, min(self._objects, first + PAGE))
            yield [self._info(number) for number in numbers if number % EVERY != 1]
        for first in range(self._objects, self._objects + self._objects // EVERY, PAGE):
            yield [self._info(number) for number in range(first, first + PAGE)][: self._objects // EVERY]

    def _info(self, number: int) -> ObjectInfo:
        info = ObjectInfo(name_of(number), 3_000 + number % 500, token_of(number), modified=1_700_000_000)
        return info if number % self._every else replace(info, token=info.token + "1")


def plan(folder: Path, objects: int, changed: float) -> dict[str, float]:
    """Plan once, and say what came out."""
    job = job_of(folder)
    corpus = job.source["pages"].root
    listing.open_store = lambda root: (  # type: ignore[assignment]
        Listed(root, objects, changed) if root == corpus else open_store(root)
    )
    start = time.monotonic()
    made = plan_alone(job, "pages")
    keep_plan(made, job)
    seconds = time.monotonic() - start
    plans = (folder / "table/snapshots/000002/_plan").glob("*.json")
    found = {
        "seconds": seconds,
        "listed": made.listed,
        "shards": len(made.shards),
        "reads": sum(len(shard.reads) for shard in made.shards),
        "gone": made.gone,
        "plan_bytes": sum(path.stat().st_size for path in plans),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    shutil.rmtree(folder / "table/snapshots/000002")
    return found


if __name__ == "__main__":
    main()

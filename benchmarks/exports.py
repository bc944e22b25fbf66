"""Rows a CPU second of each export, and the memory of the process: ``python benchmarks/exports.py [--rows N]``.

A table of random vectors is written once below ``build/``; each profile runs in a process of its own. With ``--terms``
each row has a sparse vector of so many terms.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from transforms.exports.export import Wishes, export
from transforms.exports.registry import NAMES, find_profile
from transforms.sparse.columns import to_columns
from transforms.sparse.protocol import SparseVectors
from transforms.storage.local import LocalStore
from transforms.table.layout import CHUNKS, shard_path
from transforms.table.publish import Draft, publish
from transforms.table.schema import CHUNKS as COLUMNS
from transforms.table.writer import write_table

DIMENSION = 384
SHARD = 10_000


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--rows", type=int, default=50_000)
    options.add_argument("--terms", type=int, default=0)
    options.add_argument("--profile", choices=NAMES)
    options.add_argument("--table", default="build/benchmark-exports")
    given = options.parse_args()
    table = Path(given.table) / f"{given.rows}-{given.terms}"
    if given.profile:
        print(json.dumps(measured(str(table), given.profile)))
        return
    if not (table / "latest.json").exists():
        write(LocalStore(str(table)), given.rows, given.terms)
    for name in NAMES:
        command = [
            sys.executable,
            __file__,
            "--rows",
            str(given.rows),
            "--terms",
            str(given.terms),
            "--profile",
            name,
            "--table",
            given.table,
        ]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        print(
            f"{name:<13} {found['rows'] / found['seconds']:>9,.0f} rows/CPU s {found['bytes'] / 2**20:>8,.0f} MiB "
            f"{found['files']:>5,} files {found['memory'] / 2**20:>6,.0f} MiB of memory"
        )


def measured(table: str, profile: str) -> dict[str, float]:
    to = f"{table}-{profile}"
    begin = time.process_time()
    name = "my-chunks" if profile == "s3-vectors" else "chunks"
    manifest = export(table, find_profile(profile), Wishes(to, name=name))
    return {
        "rows": manifest.upserts,
        "seconds": time.process_time() - begin,
        "bytes": sum(file.bytes for file in manifest.files),
        "files": len(manifest.files),
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def write(store: LocalStore, rows: int, terms: int) -> None:
    """A table of one snapshot."""
    chance = np.random.default_rng(1)
    files = []
    for first in range(0, rows, SHARD):
        count = min(SHARD, rows - first)
        path = shard_path(1, CHUNKS, "docs", f"{first:08}")
        files.append(write_table(store, path, shard(chance, first, count, terms), "docs", {}))
    counts = {"documents": 0, "chunks": rows, "embedded": rows, "reused": 0, "rejected": 0, "deleted": 0}
    made = "made-up@1" if terms else None
    draft = Draft(1, None, "benchmark", {}, tuple(files), (), (), {}, {"docs": counts}, counts, made)
    publish(store, draft, lambda _manifest: None)


def shard(chance: np.random.Generator, first: int, count: int, terms: int) -> pa.Table:
    """Rows with the columns that exports take; the others are as empty as the schema allows."""
    vectors = chance.standard_normal(count * DIMENSION, np.float32)
    lengths = np.arange(0, count * DIMENSION + 1, DIMENSION, dtype=np.int32)
    numbers = range(first, first + count)
    given = {
        "chunk_id": [f"{number:08x}-0000-8000-8000-000000000000" for number in numbers],
        "source_name": ["docs"] * count,
        "doc_id": [f"folder/{number // 10}.md" for number in numbers],
        "text": [
            f"Chunk {number}. " + "Turn the wheel until the light is green. " * 15 for number in numbers
        ],
        "section_path": [["Handbook", f"Part {number % 7}"] for number in numbers],
        "metadata": ["{}"] * count,
        "embed_model": ["random@1"] * count,
        "embed_dim": [DIMENSION] * count,
        "changed_in": [1] * count,
    }
    lists = {"embedding": pa.ListArray.from_arrays(lengths, vectors)}
    if terms:
        lists |= to_columns(sparse(chance, count, terms))
    columns = [
        lists[field.name].cast(field.type)
        if field.name in lists
        else pa.array(given.get(field.name, [plain(field)] * count), field.type)
        for field in COLUMNS
    ]
    return pa.Table.from_arrays(columns, schema=COLUMNS)


def sparse(chance: np.random.Generator, count: int, terms: int) -> SparseVectors:
    """Terms all over the range of ids, ascending in each row."""
    room = 2**32 // terms
    indices = np.arange(terms) * room + chance.integers(0, room, (count, terms))
    values = chance.uniform(0.5, 2, count * terms).astype(np.float32)
    return SparseVectors(np.arange(count + 1) * terms, indices.astype(np.uint32).ravel(), values)


def plain(field: pa.Field) -> object:
    if field.nullable:
        return None
    if pa.types.is_list(field.type):
        return []
    return "" if pa.types.is_string(field.type) else 0


if __name__ == "__main__":
    main()

"""How memory and time of a run grow with the number of documents: tiny ones, as many as asked for.

    python benchmarks/many.py --documents 1000000 --folder build/many

writes records of about a hundred characters into JSON Lines files of 5,000, and runs the job over them with
the stand-in embedder and one worker, or as many as `--workers` says. Options of Beam behind `--` are handed on.
It prints the memory of the run, all its processes together, after each tenth of its shards.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import yaml

RECORDS = 5_000
SHARD_BYTES = 2**20
"""Some 8,000 documents a shard: of records as small as these, the default would take ten times as many at once."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=Path("build/many"))
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("beam", nargs="*", help="options of Beam, behind --")
    given = parser.parse_args()
    shutil.rmtree(given.folder, ignore_errors=True)
    write_corpus(given.folder / "corpus", given.documents)
    measure(given.folder, given.documents, given.workers, given.beam)


def write_corpus(folder: Path, documents: int) -> None:
    """Records with an id and a text that no other has."""
    folder.mkdir(parents=True, exist_ok=True)
    for first in range(0, documents, RECORDS):
        lines = [json.dumps(record(n)) for n in range(first, min(documents, first + RECORDS))]
        (folder / f"{first // RECORDS:05}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def record(n: int) -> dict[str, str]:
    text = f"Note {n}. The wheel {n % 977} of rover {n % 31} turns freely, and the mast {n} stands."
    return {"id": f"d{n:08}", "text": text}


def measure(folder: Path, documents: int, workers: int, beam: list[str]) -> None:
    """Run the job, and look at its processes once a second."""
    config = {
        "table": str(folder / "table"),
        "embedder": {"kind": "hash", "dimension": 32},
        "sources": [{"name": "notes", "root": str(folder / "corpus")}],
        "run": {"workers": workers, "shard_bytes": SHARD_BYTES},
    }
    path = folder / "many.yaml"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    command = [sys.executable, "-m", "pipeline.cli", "run", str(path), "--quiet", "--json"]
    command += ["--", *beam] if beam else []
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    seen = []
    while process.poll() is None:
        seen.append((done(folder), resident(process.pid)))
        time.sleep(0.5)
    outcome = json.loads(process.communicate()[0])
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{documents:,} documents: {outcome['counts']['chunks']:,} chunks")
    print(f"{time.monotonic() - start:.0f} s, {used.ru_utime + used.ru_stime:.0f} CPU s")
    print(f"the largest process at most {used.ru_maxrss // 1024} MB")
    print("shards done   MB at most")
    last = max(shards for shards, _ in seen)
    for tenth in range(10):
        from_, to = last * tenth / 10, last * (tenth + 1) / 10
        inside = [memory for shards, memory in seen if from_ <= shards < to]
        print(f"{round(to):11}   {max(inside, default=0):10}")
    print(f"publishing    {max(memory for shards, memory in seen if shards == last):10}")


def done(folder: Path) -> int:
    return sum(len(files) for _, _, files in os.walk(folder / "table/snapshots/000001/_done"))


def resident(pid: int) -> int:
    """Megabytes of a process and all that descend from it."""
    parents, sizes = {}, {}
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            facts = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        except OSError:
            continue
        if "VmRSS" in facts:
            parents[int(facts["Pid"])] = int(facts["PPid"])
            sizes[int(facts["Pid"])] = int(facts["VmRSS"].split()[0]) // 1024
    ours = {pid}
    while more := {one for one, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(sizes.get(one, 0) for one in ours)


if __name__ == "__main__":
    main()

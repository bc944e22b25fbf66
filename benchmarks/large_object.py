"""One large object of JSON Lines on several workers: what each process takes of CPU and memory.

    python benchmarks/large_object.py [--megabytes 300] [--workers 2] [--look-only]

With ``--look-only`` it is looked through, as planning does, and not indexed. Processes are watched in /proc.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from transforms.extractors.ranges import cut_records  # noqa: E402 - the folder is no installed package
from transforms.extractors.settings import ExtractSettings  # noqa: E402

RECORDS = {"id": "id", "title": "title", "text": ["text"], "metadata": ["kind"]}
NAME = "export.jsonl"
_TICKS = os.sysconf("SC_CLK_TCK")
_MIB = 2**20


def main() -> None:
    """Make the object, look through it, index it, and print a line for each process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--look-only", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "corpus", NAME)
        path.parent.mkdir()
        print(f"{make(path, args.megabytes * 10**6):,} records, {path.stat().st_size:,} bytes")
        look(path)
        if not args.look_only:
            index(Path(folder), args.workers)


def make(path: Path, size: int) -> int:
    """Records of about a kilobyte; their number."""
    chance = random.Random(5)
    words = [
        "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 9))) for _ in range(4000)
    ]
    number = written = 0
    with path.open("w") as file:
        while written < size:
            record = {"id": f"rec-{number}", "title": f"Record {number}", "kind": chance.choice("abc")}
            text = " ".join(chance.choices(words, k=150))
            written += file.write(json.dumps({**record, "text": text}) + "\n")
            number += 1
    return number


def look(path: Path) -> None:
    """What planning does, in this process."""
    settings = ExtractSettings.model_validate({"records": RECORDS})
    start = time.process_time()
    with path.open("rb") as file:
        ranges = cut_records(file, NAME, settings, 4 * _MIB, 256 * _MIB)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{len(ranges)} ranges: {time.process_time() - start:.1f} s of CPU, peak memory {peak} MiB")


def index(folder: Path, workers: int) -> None:
    """A first run."""
    job = {
        "table": str(folder / "table"),
        "embedder": {"kind": "static"},
        "sources": [{"name": "export", "root": str(folder / "corpus"), "extract": {"records": RECORDS}}],
        "run": {"workers": workers},
    }
    (folder / "job.yaml").write_text(json.dumps(job))
    command = [sys.executable, "-m", "pipeline.cli", "run", str(folder / "job.yaml")]
    start = time.monotonic()
    process = subprocess.Popen(command, cwd=ROOT)
    seen: dict[int, tuple[str, float, int]] = {}
    while process.poll() is None:
        seen |= {pid: facts for pid in family(process.pid) if (facts := looked_at(pid)) is not None}
        time.sleep(0.5)
    print(f"{time.monotonic() - start:.0f} s")
    for name, cpu, peak in seen.values():
        print(f"{cpu:8.1f} s of CPU, peak memory {peak:5} MiB: {name}")


def family(pid: int) -> list[int]:
    """A process and all that it has started."""
    try:
        threads = [*Path(f"/proc/{pid}/task").glob("*/children")]
        children = [child for thread in threads for child in thread.read_text().split()]
    except OSError:
        return [pid]
    return [pid, *(other for child in children for other in family(int(child)))]


def looked_at(pid: int) -> tuple[str, float, int] | None:
    """What a process is, its CPU seconds and its peak memory in MiB so far; None where it has ended."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        peak = Path(f"/proc/{pid}/status").read_text().partition("VmHWM:")[2].split()
    except OSError:
        return None
    if not peak:
        return None
    module = words[words.index("-m") + 1] if "-m" in words else words[0]
    return module, (int(times[11]) + int(times[12])) / _TICKS, int(peak[0]) // 1024


if __name__ == "__main__":
    main()

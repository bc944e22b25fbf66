"""The whole job against a plain script on the same generated corpus: CPU, memory, documents a second.

    python benchmarks/e2e.py [--files 2000 20000] [--embedders hash static] [--workers 1 2] [--runs 3]

Every run is a process of its own; of several the one in the middle by CPU is shown. CPU seconds are user and
system time of it and its children; memory is the peak of the largest of these processes. The start-up is a run over
one file; the cost of 1,000 chunks is what a run needs beyond it. Wall times are those of a machine that may have
had other work.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.corpus import write_corpus  # noqa: E402 - the folder is no installed package

PLAIN = "plain script"
BY_THE_CARD = "plain script, embedder by the model's card"


@dataclass(frozen=True, slots=True)
class Usage:
    """What one process used, with its children."""

    documents: int
    chunks: int
    cpu_seconds: float
    wall_seconds: float
    peak_mb: float


@dataclass(frozen=True, slots=True)
class Measurement:
    """One line of the result."""

    files: int
    embedder: str
    program: str
    usage: Usage
    startup_cpu_seconds: float

    @property
    def cost(self) -> float:
        """CPU seconds for 1,000 chunks, beyond the start-up."""
        if not self.usage.chunks:
            return 0.0
        return (self.usage.cpu_seconds - self.startup_cpu_seconds) / self.usage.chunks * 1000


def main() -> None:
    """Measure, print a table in Markdown, and leave it with the figures as JSON in the output folder."""
    args = _arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="parquetry-bench-") as folder:
        results = list(measure_all(Path(folder), args.files, args.embedders, args.workers, args.runs))
    table = as_markdown(results)
    (args.out / "e2e.md").write_text(table, encoding="utf-8")
    (args.out / "e2e.json").write_text(as_json(results), encoding="utf-8")
    print(table)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--files", type=int, nargs="+", default=[2_000, 20_000])
    parser.add_argument("--embedders", nargs="+", choices=["hash", "static"], default=["hash", "static"])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench")
    return parser.parse_args()


def measure_all(
    folder: Path, sizes: Sequence[int], embedders: Sequence[str], workers: Sequence[int], runs: int
) -> Iterator[Measurement]:
    """Every program on every corpus; start-ups first, on a corpus of one file."""
    corpora = {size: folder / f"corpus-{size}" for size in (1, *sizes)}
    for size, corpus in corpora.items():
        write_corpus(corpus, size)
    for embedder in embedders:
        # With the default model also as one would write it who has not the job's embedder.
        scripts = {PLAIN: embedder} | ({BY_THE_CARD: "card"} if embedder == "static" else {})
        # The first run of all may have to compile modules.
        run_job(corpora[1], folder, embedder, workers[0])
        begun = {
            name: middle(runs, run_plain, corpora[1], folder, kind).cpu_seconds
            for name, kind in scripts.items()
        }
        startups = {
            count: middle(runs, run_job, corpora[1], folder, embedder, count).cpu_seconds
            for count in workers
        }
        for size in sizes:
            for name, kind in scripts.items():
                usage = middle(runs, run_plain, corpora[size], folder, kind)
                yield _noted(Measurement(size, embedder, name, usage, begun[name]))
            for count, startup in startups.items():
                name = f"job, {count} worker{'s' if count > 1 else ''}"
                usage = middle(runs, run_job, corpora[size], folder, embedder, count)
                yield _noted(Measurement(size, embedder, name, usage, startup))
            usage = run_job(corpora[size], folder, embedder, 1, again=True)
            yield _noted(Measurement(size, embedder, "job, nothing new", usage, 0.0))


def middle(runs: int, run: Callable[..., Usage], *args: object) -> Usage:
    """Of several runs the one with the median of CPU seconds."""
    return sorted((run(*args) for _ in range(runs)), key=attrgetter("cpu_seconds"))[runs // 2]


def run_plain(corpus: Path, folder: Path, embedder: str) -> Usage:
    """The plain script over a corpus."""
    script = str(ROOT / "benchmarks" / "plain.py")
    counts, usage = measure([sys.executable, script, str(corpus), str(folder / "plain.parquet"), embedder])
    return usage(counts["documents"], counts["chunks"])


def run_job(corpus: Path, folder: Path, embedder: str, workers: int, *, again: bool = False) -> Usage:
    """The job over a corpus: into a new table, or ``again`` into the one that is there."""
    table, config = folder / "table", folder / "job.yaml"
    if not again:
        shutil.rmtree(table, ignore_errors=True)
    job = {
        "version": 1,
        "table": str(table),
        "embedder": {"kind": embedder},
        # The script makes no sparse vectors; what they cost is measured by sparse.py.
        "sparse": {"kind": "none"},
        "sources": [{"name": "pages", "root": str(corpus), "size": {"target": 1000, "max": 1500}}],
        "run": {"workers": workers},
    }
    config.write_text(yaml.safe_dump(job), encoding="utf-8")
    result, usage = measure([sys.executable, "-m", "pipeline.cli", "run", str(config), "--json"])
    return usage(result["counts"].get("documents", 0), result["counts"].get("chunks", 0))


def measure(command: Sequence[str]) -> tuple[dict, type]:  # type: ignore[type-arg]
    """Run a command that prints JSON last; its answer, and a :class:`Usage` that wants the counts."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    # As an installation has it: modules are compiled once, not at each start.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.monotonic()
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        output = process.stdout.read() if process.stdout else ""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - start
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}.")
    cpu, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024

    def usage(documents: int, chunks: int) -> Usage:
        return Usage(documents, chunks, cpu, wall, peak)

    return json.loads(output.splitlines()[-1]), usage  # type: ignore[return-value]


def _noted(measurement: Measurement) -> Measurement:
    usage = measurement.usage
    print(
        f"{measurement.files} files, {measurement.embedder}, {measurement.program}: "
        f"{usage.cpu_seconds:.1f} CPU-s",
        file=sys.stderr,
    )
    return measurement


def as_markdown(results: Sequence[Measurement]) -> str:
    """One line a measurement; ratios are to the plain script of the same corpus and embedder."""
    head = (
        "| files | embedder | program | chunks | CPU s | start-up CPU s | CPU s per 1,000 chunks | ratio "
        "| total CPU ratio | documents/s | peak MB |"
    )
    lines = [head, "|" + "---|" * 11]
    for one in results:
        plain = _plain_of(one, results)
        works = one.program != "job, nothing new"
        cells = [
            f"{one.files:,}",
            one.embedder,
            one.program,
            f"{one.usage.chunks:,}",
            f"{one.usage.cpu_seconds:.2f}",
            f"{one.startup_cpu_seconds:.2f}" if works else "",
            f"{one.cost:.3f}" if works else "",
            f"{one.cost / plain.cost:.2f}" if works else "",
            f"{one.usage.cpu_seconds / plain.usage.cpu_seconds:.2f}",
            f"{one.files / one.usage.wall_seconds:,.0f}",
            f"{one.usage.peak_mb:.0f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def as_json(results: Sequence[Measurement]) -> str:
    """The same figures for programs."""
    rows = [
        {**asdict(one), "cpu_seconds_per_1000_chunks": one.cost, "ratio": one.cost / plain.cost}
        for one in results
        if (plain := _plain_of(one, results))
    ]
    return json.dumps(
        {"cores": os.cpu_count(), "python": sys.version.split()[0], "results": rows}, indent=2
    )


def _plain_of(measurement: Measurement, results: Sequence[Measurement]) -> Measurement:
    same = (measurement.files, measurement.embedder)
    return next(one for one in results if (one.files, one.embedder) == same and one.program == PLAIN)


if __name__ == "__main__":
    main()

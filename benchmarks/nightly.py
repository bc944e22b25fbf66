"""What a second night costs against the first, and how the cost of many nights follows the change.

    python benchmarks/nightly.py [--files 20000] [--embedder hash] [--sparse none]
    python benchmarks/nightly.py --replay REPOSITORY [--include '**/*.md'] [--commits 20]

The first form indexes a generated corpus, edits one file in a hundred by a sentence, deletes one in a thousand, and
runs again; then once more with as many, all in one folder. Every run is a process of its own; CPU seconds are user
and system time of it and its children. The start-up is a run over one file. The second form walks the first parents
of a git repository's branch, oldest first, and runs the job on each state; the repository is only read.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.dataset as ds
import yaml

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.corpus import write_corpus  # noqa: E402 - the folder is no installed package
from benchmarks.e2e import measure  # noqa: E402
from pipeline.config import JobConfig  # noqa: E402
from pipeline.run import run_job  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

EDITED = 100
"""One file in so many is edited."""
DELETED = 1_000
"""One file in so many is deleted."""


def main() -> None:
    """Measure, and print a table in Markdown."""
    args = _arguments()
    with tempfile.TemporaryDirectory(prefix="parquetry-bench-") as folder:
        if args.replay:
            steps = replay(args.replay, Path(folder), args.include, args.commits, args.embedder)
            print_steps(list(steps))
        else:
            print_nights(
                nights(Path(folder), args.files, args.embedder, args.workers, args.sparse), args.files
            )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--embedder", choices=["hash", "static"], default="static")
    parser.add_argument("--sparse", choices=["bm25", "none"], default="bm25")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--replay", type=Path, help="a git repository of documents")
    parser.add_argument("--include", default="**/*.md")
    parser.add_argument("--commits", type=int, default=20)
    return parser.parse_args()


@dataclass(frozen=True, slots=True)
class Night:
    """One run."""

    name: str
    cpu_seconds: float
    wall_seconds: float
    peak_mb: float
    embedded: int
    chunks: int
    new_texts: int
    """Distinct embedded texts that the snapshot before did not have."""


def nights(folder: Path, files: int, embedder: str, workers: int, sparse: str) -> list[Night]:
    """The start-up, the first night, two with edits and deletions, and one without any change."""
    # The first run of all may have to compile modules.
    run(folder, "not counted", write(folder / "warm", 1), embedder, workers, sparse)
    one = run(folder, "one", write(folder / "one", 1), embedder, workers, sparse)
    corpus = write(folder / "corpus", files)
    measured = [one, run(folder, "first", corpus, embedder, workers, sparse)]
    for name, choose in (
        ("second, edits everywhere", everywhere),
        ("third, edits in one place", in_one_place),
    ):
        edit(*choose(sorted(corpus.rglob("*.md"))))
        measured.append(run(folder, name, corpus, embedder, workers, sparse))
    return [*measured, run(folder, "nothing new", corpus, embedder, workers, sparse)]


def write(corpus: Path, files: int) -> Path:
    """Generate the corpus."""
    write_corpus(corpus, files)
    return corpus


def everywhere(files: list[Path]) -> tuple[list[Path], list[Path]]:
    """Which files to edit and which to delete: one of so many, evenly spread."""
    return files[::EDITED], files[7::DELETED]


def in_one_place(files: list[Path]) -> tuple[list[Path], list[Path]]:
    """As many, one behind the other: a folder that was worked on."""
    edited, deleted = len(files) // EDITED, len(files) // DELETED
    begin = len(files) // 2
    return files[begin : begin + edited], files[begin + edited : begin + edited + deleted]


def edit(edited: list[Path], deleted: list[Path]) -> None:
    """Put a sentence into the longest line of some files, and delete others."""
    for number, path in enumerate(edited):
        lines = path.read_text(encoding="utf-8").split("\n")
        middle = max(range(len(lines)), key=lambda n: len(lines[n]))
        lines[middle] = f"A sentence that was not there before {path.name} {number}. {lines[middle]}"
        path.write_text("\n".join(lines), encoding="utf-8")
    for path in deleted:
        path.unlink()


def run(folder: Path, name: str, corpus: Path, embedder: str, workers: int, sparse: str) -> Night:
    """Run the job in a process of its own, on the table that belongs to the corpus."""
    table, config = folder / f"table-{corpus.name}", folder / "job.yaml"
    before = keys(table)
    config.write_text(yaml.safe_dump(job(table, corpus, embedder, workers, sparse)), encoding="utf-8")
    command = [sys.executable, "-m", "pipeline.cli", "run", str(config), "--json"]
    result, usage = measure(command)
    counts = result["counts"]
    used = usage(counts.get("documents", 0), counts.get("chunks", 0))
    new = len(keys(table) - before)
    return Night(
        name,
        used.cpu_seconds,
        used.wall_seconds,
        used.peak_mb,
        counts.get("embedded", 0),
        used.chunks,
        new,
    )


def job(
    table: Path, corpus: Path, embedder: str, workers: int, sparse: str, **source: object
) -> dict[str, object]:
    """The configuration."""
    return {
        "version": 1,
        "table": str(table),
        "embedder": {"kind": embedder},
        "sparse": {"kind": sparse},
        "sources": [{"name": "pages", "root": str(corpus), **source}],
        "limits": {"max_deleted_share": 1.0, "max_rejected_share": 1.0},
        "run": {"workers": workers},
    }


def keys(table: Path) -> set[str]:
    """The names of the vectors in the newest snapshot."""
    latest = table / "latest.json"
    if not latest.exists():
        return set()
    chunks = table / "snapshots" / f"{json.loads(latest.read_text())['snapshot']:06}" / "chunks"
    if not chunks.exists():
        return set()
    return set(
        ds.dataset(chunks, format="parquet").to_table(columns=["embed_key"])["embed_key"].to_pylist()
    )


def print_nights(measured: list[Night], files: int) -> None:
    """The table, and the shares that matter."""
    one, first, *later = measured
    print(f"{files:,} files\n")
    print("| run | chunks | embedded | new texts | CPU s | without start-up | wall s | peak MB |")
    print("|" + "---|" * 8)
    for night in measured:
        print(
            f"| {night.name} | {night.chunks:,} | {night.embedded:,} | {night.new_texts:,} | {night.cpu_seconds:.2f} "
            f"| {night.cpu_seconds - one.cpu_seconds:.2f} | {night.wall_seconds:.1f} | {night.peak_mb:.0f} |"
        )
    print()
    for night in later:
        whole = night.cpu_seconds / first.cpu_seconds
        work = (night.cpu_seconds - one.cpu_seconds) / (first.cpu_seconds - one.cpu_seconds)
        print(f"{night.name}: {whole:.1%} of the first's CPU, {work:.1%} without the start-up of both")


@dataclass(frozen=True, slots=True)
class Step:
    """One commit's run."""

    commit: str
    bytes: int
    added: int
    """Bytes of the lines that the commit brought."""
    touched: int
    """Bytes of the files that it changed."""
    chunks: int
    embedded: int
    opened: int


def replay(repository: Path, folder: Path, include: str, commits: int, embedder: str) -> Iterator[Step]:
    """Run the job on the state of each commit, oldest first; the last ``commits`` of them."""
    corpus, table = folder / "corpus", folder / "table"
    corpus.mkdir()
    config = JobConfig.model_validate(job(table, corpus, embedder, 1, "none", include=[include]))
    log = git(repository, folder, "rev-list", "--first-parent", f"--max-count={commits}", "HEAD").split()
    before: dict[Path, bytes] = {}
    for commit in reversed(log):
        git(repository, folder, "read-tree", "-u", "--reset", commit)
        now = {path: path.read_bytes() for path in sorted(corpus.glob(include)) if path.is_file()}
        if now == before:
            continue
        outcome = run_job(config, allow_deletes=True)
        changed = {path: data for path, data in now.items() if before.get(path) != data}
        yield Step(
            commit[:9],
            sum(map(len, now.values())),
            sum(_added(before.get(path, b""), data) for path, data in changed.items()),
            sum(map(len, changed.values())),
            outcome.counts["chunks"],
            outcome.counts["embedded"],
            outcome.work["opened"],
        )
        before = now


def git(repository: Path, folder: Path, *words: str) -> str:
    """Run git on the repository's objects, with a tree and an index of our own."""
    command = ["git", f"--git-dir={_git_dir(repository)}", f"--work-tree={folder / 'corpus'}", *words]
    environment = {**os.environ, "GIT_INDEX_FILE": str(folder / "index")}
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


def _git_dir(repository: Path) -> str:
    found = shutil.which("git")
    if found is None:
        raise SystemExit("git is needed to walk a repository.")
    words = [found, "-C", str(repository), "rev-parse", "--absolute-git-dir"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def _added(before: bytes, now: bytes) -> int:
    """Bytes of lines that were not there before."""
    known = set(before.splitlines())
    return sum(len(line) for line in now.splitlines() if line not in known)


def print_steps(steps: list[Step]) -> None:
    """A line a commit, and all but the first together."""
    print("| commit | bytes | lines new | files new | chunks | embedded | opened | share embedded |")
    print("|" + "---|" * 8)
    for one in steps:
        print(
            f"| {one.commit} | {one.bytes:,} | {one.added / max(1, one.bytes):.2%} "
            f"| {one.touched / max(1, one.bytes):.2%} | {one.chunks:,} | {one.embedded:,} | {one.opened:,} "
            f"| {one.embedded / max(1, one.chunks):.2%} |"
        )
    later = steps[1:]
    total = max(1, sum(one.bytes for one in later))
    print(
        f"\nAfter the first: {sum(one.added for one in later) / total:.2%} of all bytes were in new lines, "
        f"{sum(one.touched for one in later) / total:.2%} in changed files, and "
        f"{sum(one.embedded for one in later) / max(1, sum(one.chunks for one in later)):.2%} of all chunks "
        "were embedded."
    )


if __name__ == "__main__":
    main()

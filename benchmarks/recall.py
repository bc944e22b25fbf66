"""Retrieval: of questions with known answers, how many find an expected file first, and among the first three and five.

    python benchmarks/recall.py [--kinds static minilm] [--by dense sparse hybrid] [--corpus FOLDER --queries FILE]

The corpus has one source a folder. A question counts as answered if a chunk of one of its `expect_any_of` files
is found; questions without any are left out. The default is the corpus in examples/.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from pipeline.config import JobConfig  # noqa: E402 - no installed package
from pipeline.run import run_job  # noqa: E402
from pipeline.search import search  # noqa: E402

FIRST = (1, 3, 5)
WAYS = ("dense", "sparse", "hybrid")


def index(kind: str, corpus: Path, table: Path) -> float:
    """Index the corpus with one embedder; the seconds that took."""
    config = JobConfig.model_validate(
        {
            "table": str(table),
            "embedder": {"kind": kind},
            "sources": [
                {
                    "name": folder.name,
                    "root": str(folder),
                    "size": {"target": 600, "max": 1000},
                    "overlap": {"size": 100},
                }
                for folder in sorted(corpus.iterdir())
                if folder.is_dir()
            ],
        }
    )
    began = time.monotonic()
    run_job(config)
    return time.monotonic() - began


def places(table: Path, questions: list[dict], by: str) -> dict[str, list[int]]:
    """By language, the place from 1 of the first expected file of each question; 99 for none."""
    found: dict[str, list[int]] = defaultdict(list)
    for question in questions:
        hits = search(str(table), question["query"], top=max(FIRST), by=by)
        files = [f"{hit.source_name}/{hit.doc_id}".split("#")[0].split("!")[0] for hit in hits]
        right = [place for place, name in enumerate(files, 1) if name in question["expect_any_of"]]
        found[question["lang"]].append(min(right, default=99))
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--kinds", nargs="*", default=["static", "minilm"])
    options.add_argument("--by", nargs="*", default=list(WAYS), choices=WAYS)
    options.add_argument("--corpus", type=Path, default=ROOT / "examples" / "corpus")
    options.add_argument("--queries", type=Path, default=ROOT / "examples" / "queries.jsonl")
    chosen = options.parse_args()
    lines = chosen.queries.read_text(encoding="utf-8").splitlines()
    questions = [question for line in lines if (question := json.loads(line))["expect_any_of"]]
    for kind in chosen.kinds:
        with tempfile.TemporaryDirectory() as folder:
            seconds = index(kind, chosen.corpus, Path(folder) / "table")
            for by in chosen.by:
                show(f"{kind:8} {by:7}", places(Path(folder) / "table", questions, by))
        print(f"{kind:8} indexed in {seconds:.1f} s")


def show(name: str, by_language: dict[str, list[int]]) -> None:
    """A line a language, and one for all."""
    every = [place for found in by_language.values() for place in found]
    for language, found in {**by_language, "all": every}.items():
        shares = (sum(place <= first for place in found) / len(found) for first in FIRST)
        print(f"{name} {language:4} {len(found):3} questions", *(f"{share:.2f}" for share in shares))


if __name__ == "__main__":
    main()

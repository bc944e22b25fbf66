"""The job as a person starts it on an engine: a command line for a corpus and a table."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.support.readme import shown

REPO = Path(__file__).parents[2]
DEMO = REPO / "examples"
PATIENCE = 600
"""Seconds that a run may take: engines share a machine with whatever else is on it."""


@dataclass(frozen=True, slots=True)
class Engine:
    """Where a job is run: the options of Beam that lead there, none for this machine alone."""

    options: tuple[str, ...] = ()
    workers: int = 1


@dataclass(frozen=True, slots=True)
class Place:
    """A corpus, and as many tables of it as there are engines."""

    folder: Path
    embedder: dict

    @property
    def corpus(self) -> Path:
        return self.folder / "corpus"

    def table(self, name: str) -> Path:
        return self.folder / f"table-{name}"

    def command(self, name: str, engine: Engine) -> list[str]:
        """The command line that brings the table ``name`` up to date."""
        config = {
            "table": str(self.table(name)),
            "embedder": self.embedder,
            "defaults": {"size": {"target": 600, "max": 1000}, "overlap": {"size": 100}},
            "sources": [
                {"name": path.name, "root": str(path)}
                for path in sorted(self.corpus.iterdir())
                if path.is_dir()
            ],
            "run": {"workers": engine.workers, "shard_bytes": 16384},
        }
        path = self.folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump(config), encoding="utf-8")
        beam = ["--", *engine.options] if engine.options else []
        return [sys.executable, "-m", "pipeline.cli", "run", str(path), "--json", *beam]

    def run(self, name: str, engine: Engine) -> subprocess.CompletedProcess[str]:
        """Run the job to its end."""
        return subprocess.run(
            self.command(name, engine),
            cwd=REPO,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )


def copy_of_demo(folder: Path, embedder: dict | None = None) -> Place:
    """The bundled corpus, in a folder of its own."""
    place = Place(folder, embedder or {"kind": "static"})
    shutil.copytree(DEMO / "corpus", place.corpus)
    return place


def portable(address: str, *more: str) -> tuple[str, ...]:
    """The options of the README's command for Beam's job interface, at another address, and more of them."""
    words = [word for word in _on_a_cluster() if not word.startswith(("--environment", "--parallelism"))]
    return (*(re.sub(r"localhost:\d+", address, word) for word in words), *more)


def external(address: str, slots: int = 1) -> tuple[str, ...]:
    """The options of the same command for workers that a pool at another address starts."""
    words = [word for word in _on_a_cluster() if word.startswith("--environment")]
    parallel = [f"--parallelism={slots}"] if slots > 1 else []
    return (*(re.sub(r"localhost:\d+", address, word) for word in words), *parallel)


def on_dataflow() -> tuple[str, ...]:
    """The options of the README's command for Dataflow."""
    return ("--runner=DataflowRunner", *shown(f"{_COMMAND} --runner=DataflowRunner"))


_COMMAND = "parquetry run configs/nightly.yaml --"


def _on_a_cluster() -> tuple[str, ...]:
    return ("--runner=PortableRunner", *shown(f"{_COMMAND} --runner=PortableRunner"))

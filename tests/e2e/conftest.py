"""A world of a corpus, a configuration and a table, in which tests run the job night after night."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from pipeline.config import JobConfig
from pipeline.run import run_job

ABOUT = "# Pumps\n\nThe vent valve stays open.\n\n## Start\n\n1. Open the valve.\n2. Press start.\n"
NOTES = "First note about the radio.\n\nSecond note about the battery, which is older.\n"


@dataclass
class World:
    """A corpus folder and its table, for tests that run the job night after night."""

    folder: Path
    settings: dict = field(default_factory=dict)

    @property
    def corpus(self) -> Path:
        return self.folder / "corpus"

    @property
    def table(self) -> Path:
        return self.folder / "table"

    def put(self, name: str, text: str | bytes) -> Path:
        path = self.corpus / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def config(self, **changes) -> JobConfig:
        raw = {
            "table": str(self.table),
            "embedder": {"kind": "static"},
            "sources": [{"name": "docs", "root": str(self.corpus), **self.settings}],
            "limits": {"max_rejected_share": 0.9},
            "run": {"workers": 1},
        }
        return JobConfig.model_validate(raw | changes)

    def run(self, **changes):
        return run_job(self.config(**changes), allow_deletes=True)

    def snapshot(self, number: int) -> Path:
        return self.table / "snapshots" / f"{number:06}"

    def latest(self) -> int:
        return json.loads((self.table / "latest.json").read_text())["snapshot"]

    def rows(self, kind: str = "chunks", number: int | None = None):
        folder = self.snapshot(number or self.latest()) / kind
        rows = ds.dataset(folder, format="parquet", partitioning="hive").to_table().to_pylist()
        return sorted(rows, key=lambda row: (row["source_name"], row["doc_id"], row.get("chunk_index", 0)))

    def manifest(self, number: int | None = None) -> dict:
        return json.loads((self.snapshot(number or self.latest()) / "manifest.json").read_text())


@pytest.fixture
def world(tmp_path) -> World:
    """Two small documents, not indexed yet."""
    world = World(tmp_path)
    world.put("about.md", ABOUT)
    world.put("notes/radio.txt", NOTES)
    return world

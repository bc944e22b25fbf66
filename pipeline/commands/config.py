"""``parquetry config``: check a configuration, or export its schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pipeline.config import load_config
from pipeline.config.schema import file_schema
from pipeline.output import counted
from pipeline.preflight import check_job

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.config import SourceConfig


def check(config: Path) -> int:
    """Say in a line a source what a configuration will do, if nothing would stop the run at once.

    Raises:
        ConfigError: something would, in a line each.
    """
    job = load_config(config)
    check_job(job)
    sources = counted(len(job.sources), "source")
    sparse = "" if job.sparse.kind == "none" else f", sparse vectors {job.sparse.kind}"
    print(f"{config} is valid: {sources} into {job.table}, embedder {job.embedder.kind}{sparse}.")
    for source in job.sources:
        print(f"  {source.name}: {source.root}, {_files(source)}, cut by {source.chunk_settings().label}")
    return 0


def _files(source: SourceConfig) -> str:
    """Which files of a source are meant."""
    every = "**" in source.include
    if source.exclude == type(source).model_fields["exclude"].default:
        return "all files but hidden ones" if every else " ".join(source.include)
    chosen = "all files" if every else " ".join(source.include)
    return f"{chosen} without {' '.join(source.exclude)}" if source.exclude else chosen


def schema() -> int:
    """Print the JSON Schema."""
    print(json.dumps(file_schema(), indent=2))
    return 0

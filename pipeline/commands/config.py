"""``parquetry config``: check a configuration, or export its schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pipeline.config import load_config
from pipeline.config.schema import file_schema
from pipeline.preflight import check_job

if TYPE_CHECKING:
    from pathlib import Path


def check(config: Path) -> int:
    """Say in a line a source what a configuration will do, if nothing would stop the run at once.

    Raises:
        ConfigError: something would, in a line each.
    """
    job = load_config(config)
    check_job(job)
    print(
        f"{config} is valid: {_sources(len(job.sources))} into {job.table}, embedder {job.embedder.kind}."
    )
    for source in job.sources:
        print(f"  {source.name}: {source.root} {' '.join(source.include)} ({source.strategy})")
    return 0


def _sources(count: int) -> str:
    return "1 source" if count == 1 else f"{count} sources"


def schema() -> int:
    """Print the JSON Schema."""
    print(json.dumps(file_schema(), indent=2))
    return 0

"""``parquetry config``: check a configuration, or export its schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pipeline.config import JobConfig, load_config

if TYPE_CHECKING:
    from pathlib import Path


def check(config: Path) -> int:
    """Say in a line a source what a valid configuration will do; an invalid one raises ConfigError."""
    job = load_config(config)
    print(f"{config} is valid: {len(job.sources)} sources into {job.table}, embedder {job.embedder.kind}.")
    for source in job.sources:
        print(f"  {source.name}: {source.root} {' '.join(source.include)} ({source.strategy})")
    return 0


def schema() -> int:
    """Print the JSON Schema. ``defaults`` takes any key of a source, none of them needed."""
    document = JobConfig.model_json_schema()
    source = document["$defs"]["SourceConfig"]
    defaults = {key: value for key, value in source.items() if key != "required"}
    document["$defs"]["SourceDefaults"] = {**defaults, "title": "SourceDefaults"}
    document["properties"]["defaults"] = {"$ref": "#/$defs/SourceDefaults"}
    print(json.dumps(document, indent=2))
    return 0

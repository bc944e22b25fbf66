"""How many processes will work, as the runner's options say: they share quotas, and a machine its cores."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from transforms.model.errors import ConfigError

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions

    from pipeline.config import JobConfig

_CORES_OF_MACHINE = re.compile(r"-(\d+)(?:-\d+)?$")
"""``n2-standard-8`` and ``e2-custom-4-8192``."""


def processes_here(options: PipelineOptions) -> int:
    """Of Beam's local runner: threads of one process share a client and need no part of their own."""
    given = options.get_all_options()
    several = given.get("direct_running_mode") == "multi_processing"
    return max(1, int(given.get("direct_num_workers") or 1)) if several else 1


def processes_elsewhere(options: PipelineOptions, config: JobConfig) -> int:
    """Of another runner: ``run.workers`` if it is a number, else what the runner's options say at most.

    Raises:
        ConfigError: neither says, and the embedder has a quota to be divided.
    """
    if config.run.workers != "auto":
        return config.run.workers
    given = options.get_all_options(drop_default=True, retain_unknown_options=True)
    found = _of_dataflow(given) or _number(given, "parallelism") or _number(given, "sdk_worker_parallelism")
    if found is None and _has_quota(config):
        raise ConfigError(
            "The embedder's quota is for the whole job, and how many worker processes share it is not said: "
            "give Beam --max_num_workers (Dataflow) or --parallelism (Flink), or set run.workers to their "
            "number."
        )
    return found or 1


def _of_dataflow(given: dict[str, Any]) -> int | None:
    """Machines, with one process for each of their cores."""
    machines = _number(given, "max_num_workers") or _number(given, "num_workers")
    if machines is None:
        return None
    cores = _CORES_OF_MACHINE.search(str(given.get("machine_type") or ""))
    return machines * (int(cores[1]) if cores else 1)


def _number(given: dict[str, Any], name: str) -> int | None:
    value = str(given.get(name) or "")
    return int(value) if value.isdecimal() and int(value) > 0 else None


def _has_quota(config: JobConfig) -> bool:
    embedder = config.embedder
    return any(
        getattr(embedder, name, None) is not None for name in ("requests_per_minute", "tokens_per_minute")
    )

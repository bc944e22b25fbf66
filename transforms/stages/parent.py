"""The snapshot that a run continues, opened once a process and not once a shard."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

from transforms.storage.registry import open_store
from transforms.table.reader import Snapshot

if TYPE_CHECKING:
    from transforms.stages.job import Job


@lru_cache(maxsize=1)
def parent_of(job: Job) -> Snapshot | None:
    """The snapshot; None in a first run. The run is part of the key: another may find another table there."""
    return None if job.parent is None else Snapshot.open(open_store(job.table), job.parent)


@lru_cache(maxsize=1)
def refused_objects(job: Job) -> dict[str, frozenset[str]]:
    """The objects that the snapshot has rejections of, whole or in part, by source."""
    parent = parent_of(job)
    names: defaultdict[str, set[str]] = defaultdict(set)
    if parent is not None:
        for row in parent.rejected().select(["source_name", "object_name"]).to_pylist():
            names[row["source_name"]].add(row["object_name"])
    return {source: frozenset(found) for source, found in names.items()}

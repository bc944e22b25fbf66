"""Ask for objects that an inventory does not name: one that was written after it is not gone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from transforms.storage.ahead import fetch_ahead
from transforms.storage.registry import open_store

if TYPE_CHECKING:
    from transforms.planning.diff import Diff
    from transforms.stages.job import SourceSpec

_AT_ONCE = 8


def without_what_is_there(diff: Diff, source: SourceSpec) -> Diff:
    """The comparison of an inventory, without objects among the gone that the store still has.

    They keep their rows, and the next inventory tells of them. Costs one request an object.

    Raises:
        StorageError: the store does not answer.
    """
    store = open_store(source.root)
    names = diff.gone["object_name"].to_pylist()
    facts = fetch_ahead(names, store.stat, lambda _: 1, threads=_AT_ONCE, budget=_AT_ONCE)
    gone = diff.gone.filter(pa.array([found is None for found in facts], pa.bool_()))
    return replace(diff, gone=gone, unchanged=diff.unchanged + diff.gone.num_rows - gone.num_rows)

"""What a snapshot says of the rows to load before they are read: their model, dimension and number, and some ids.

Only narrow columns are read, of many files at once.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from transforms.loaders.stream import files_of, rows_of
from transforms.model.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from transforms.loaders.selection import Selection
    from transforms.table.reader import Snapshot

_PARALLEL = 8
"""Files read at once; clients of stores keep ten connections."""
_SAMPLED = 6
"""Files that ids are taken from."""


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of a snapshot, or of some sources of it: those of one model."""

    model: str
    dimension: int
    rows: int | None
    """None: not counted."""


def vectors_of(snapshot: Snapshot, sources: Sequence[str], wanted: str | None = None) -> Vectors:
    """The model that made the vectors, their length and their number.

    Raises:
        ConfigError: there is no vector at all, none of ``wanted``, or several models and none is wanted.
    """
    counts: Counter[tuple[str, int]] = Counter()
    for table in _narrow(snapshot, sources, ["embed_model", "embed_dim"]):
        groups = table.group_by(["embed_model", "embed_dim"]).aggregate([([], "count_all")]).to_pylist()
        counts.update({(row["embed_model"], row["embed_dim"]): row["count_all"] for row in groups})
    found = [
        Vectors(model, dimension, rows)
        for (model, dimension), rows in sorted(counts.items(), key=str)
        if model is not None and wanted in (None, model)
    ]
    if len(found) == 1:
        return found[0]
    where = f"snapshot {snapshot.manifest.snapshot} of {snapshot.store.root}"
    if not found:
        of_model = f" of model {wanted}" if wanted else ""
        raise ConfigError(f"There is nothing to load: {where} has no vector{of_model} among these rows.")
    models = ", ".join(f"{one.model} ({one.dimension} numbers, {one.rows:,} rows)" for one in found)
    raise ConfigError(
        f"There are vectors of several models in {where}: {models}. Those of one cannot be compared with those of "
        "another: bring the table to one model, or name one with `model`."
    )


def model_of(snapshot: Snapshot, sources: Sequence[str], wanted: str | None) -> tuple[str, int]:
    """Model and length of the vectors alone; raises as :func:`vectors_of` does."""
    found = vectors_of(snapshot, sources, wanted)
    return found.model, found.dimension


def rows_selected(snapshot: Snapshot, selection: Selection) -> int:
    """How many rows are to be in the store."""
    tables = _narrow(snapshot, selection.sources, selection.decides)
    batches = (batch for table in tables for batch in table.to_batches())
    return sum(int(pc.sum(selection.mask(batch)).as_py() or 0) for batch in batches)


def some_ids(snapshot: Snapshot, selection: Selection, most: int) -> list[str]:
    """Ids of rows that are to be in the store, of the first and the last file and some between; no chance in it."""
    files = files_of(snapshot, selection.sources)
    step = max(1, len(files) // _SAMPLED)
    sampled = list(dict.fromkeys([*files[:1], *files[-1:], *files[::step]]))[:_SAMPLED]
    found: list[str] = []
    for file in sampled:
        # The first row group, which one request more brings.
        for table in islice(rows_of(snapshot, [file], ["chunk_id", *selection.decides]), 1):
            for batch in table.to_batches():
                ids = batch["chunk_id"].filter(selection.mask(batch)).to_pylist()
                found += ids[:: max(1, -(-len(ids) * len(sampled) // most))]
    return found[:most]


def _narrow(snapshot: Snapshot, sources: Sequence[str], columns: Sequence[str]) -> Iterator[pa.Table]:
    files = files_of(snapshot, sources)
    with ThreadPoolExecutor(_PARALLEL) as pool:
        for tables in pool.map(lambda file: list(rows_of(snapshot, [file], columns)), files):
            yield from tables

"""What the last snapshot knows of a source, in the columns that planning compares."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.planning.diff import KNOWN
from transforms.planning.place import uris
from transforms.planning.redo import Redo, one_row_an_object
from transforms.storage.registry import open_store
from transforms.table.layout import DOCUMENTS
from transforms.table.reader import Snapshot
from transforms.table.schema import REJECTED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from transforms.stages.job import Job, Recipe

_RECIPES = ("extract_recipe", "chunk_recipe", "embed_recipe", "sparse_recipe")
COLUMNS = ("object_name", "object_size", "object_token", "object_checksum", "status", "doc_uri", *_RECIPES)
"""What planning reads of the documents table."""


def known_tables(job: Job, source: str) -> Iterator[pa.Table]:
    """One table of schema ``KNOWN`` a shard of the source; nothing in a first run."""
    if job.parent is None:
        return
    snapshot = Snapshot.open(open_store(job.table), job.parent)
    spec = job.source[source]
    for shard in snapshot.shards(DOCUMENTS, spec.slug):
        documents = snapshot.shard_table(DOCUMENTS, spec.slug, shard, COLUMNS)
        in_place = pc.equal(documents["doc_uri"], uris(spec, documents["object_name"]))
        yield known_of(documents, in_place, shard, spec.recipe, job.selection.recipe)


def known_of(
    documents: pa.Table, in_place: pa.ChunkedArray, shard: str, recipe: Recipe, about: str = ""
) -> pa.Table:
    """The objects of one shard's documents; ``about`` is the beginning of a recipe's fingerprint."""
    of_recipe = (pc.starts_with(pc.fill_null(documents[name], ""), about) for name in _RECIPES)
    chosen = functools.reduce(pc.or_, of_recipe)
    table = pa.table(
        {
            "object_name": documents["object_name"],
            "size": documents["object_size"],
            "token": documents["object_token"],
            "checksum": pc.fill_null(documents["object_checksum"], ""),
            "redo": pa.array(redo_of(documents, recipe)),
            "chosen": chosen,
            "in_place": in_place,
        }
    )
    table = one_row_an_object(table)
    return table.append_column("shard", pa.repeat(pa.scalar(shard), table.num_rows)).cast(KNOWN)


def rejected_table(job: Job, source: str) -> pa.Table:
    """The source's rows in the rejected table of the last snapshot."""
    if job.parent is None:
        return REJECTED.empty_table()
    rejected = Snapshot.open(open_store(job.table), job.parent).rejected()
    return rejected.filter(pc.equal(rejected["source_name"], source))


def redo_of(documents: pa.Table, recipe: Recipe) -> np.ndarray[tuple[int], np.dtype[np.int8]]:
    """The first stage that would make other rows today; a stale document is read, whatever it is of."""

    def of_today(name: str, today: str | None) -> NDArray[np.bool_]:
        same: NDArray[np.bool_] = pc.equal(pc.fill_null(documents[name], ""), today or "").to_numpy()
        return same

    stale = of_today("status", "stale")
    today = (recipe.extract, recipe.chunk, recipe.embed, recipe.sparse)
    extract, chunk, embed, sparse = (of_today(name, one) for name, one in zip(_RECIPES, today, strict=True))
    choices = [Redo.READ, Redo.CHUNK, Redo.EMBED, Redo.SPARSE]
    return np.select([stale | ~extract, ~chunk, ~embed, ~sparse], choices, Redo.NOTHING).astype(np.int8)

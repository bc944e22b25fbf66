"""Replace the rows of a collection without emptying it: for stores that can neither swap nor roll back.

Everything is upserted, and then what else is there is deleted. Readers see old rows and new ones for a while and
never an empty collection. A load that dies in between is repeated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from transforms.loaders.protocol import Loader, Target

if TYPE_CHECKING:
    from collections.abc import Iterator


class InPlace(Loader, Protocol):
    """A loader that can make an empty collection and name all ids of one."""

    def create(self, target: Target) -> None:
        """Make the collection, empty; there is none of that name."""

    def ids(self, target: Target) -> Iterator[pa.Array]:
        """All ids of the collection, as arrays of strings, in any order."""


def replace_in_place(loader: InPlace, target: Target, batches: Iterator[pa.RecordBatch]) -> None:
    """What ``Loader.replace`` promises, by upserts and deletes.

    Where rows were there before, the ids of the new ones are held in memory, some 44 bytes each.
    """
    if loader.describe(target.collection) is None:
        loader.create(target)
    empty = loader.count(target.collection) == 0
    seen: list[pa.Array] = [pa.array([], pa.string())]
    for batch in batches:
        loader.upsert(target, batch)
        if not empty:
            seen.append(batch.column(0))
    if empty:
        return
    new = pa.chunked_array(seen).combine_chunks()
    # Named first and deleted afterwards: an enumeration need not stand deletions.
    strays = [ids.filter(pc.invert(pc.is_in(ids, value_set=new))) for ids in loader.ids(target)]
    for ids in strays:
        if len(ids):
            loader.delete(target, ids)

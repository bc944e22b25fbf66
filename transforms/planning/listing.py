"""List a source and turn the pages into columns; or take them from an inventory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from transforms.planning.diff import LISTING
from transforms.planning.select import selected_of
from transforms.planning.tables import TableFiles
from transforms.storage.registry import open_store
from transforms.storage.roots import name_below
from transforms.storage.spread import list_spread

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Sequence

    from transforms.model.objects import ObjectInfo
    from transforms.stages.job import Job, SourceSpec

ROWS_AT_ONCE = 50_000
"""Objects of a table, about: a page of a listing is small, and a table has a price of its own."""


def listing_tables(job: Job, source: str, left_out: Counter[str] | None = None) -> Iterator[pa.Table]:
    """The objects of the source that the run may be about, as tables of schema ``LISTING``.

    A source without objects has one empty table: it is planned like any other. The table's own files belong
    to no source, wherever the table lies, nor do those of other tables.

    Args:
        job: the run.
        source: its name.
        left_out: is told how many files of other tables there were, by their folders.

    Raises:
        StorageError: the listing is not complete; nothing may be concluded from its part.
    """
    spec = job.source[source]
    root = open_store(spec.root).root
    of_table = name_below(root, open_store(job.table).root)
    if spec.inventory is None:
        tables = _listed(root, job.selection.prefix)
    else:
        # Reading reports takes what a job without one never loads.
        from transforms.planning.inventory.read import inventory_tables

        tables = inventory_tables(root, spec.inventory, job.selection.prefix)
    files = TableFiles(open_store(spec.root))
    for table in tables:
        yield files.without(_selected(table, spec, of_table))
    if left_out is not None:
        left_out.update(files.left_out)


def _listed(root: str, prefix: str) -> Iterator[pa.Table]:
    held: list[ObjectInfo] = []
    for page in list_spread(open_store(root), prefix):
        held += page
        if len(held) >= ROWS_AT_ONCE:
            yield _table(held)
            held = []
    yield _table(held)


def _selected(listed: pa.Table, source: SourceSpec, of_table: str | None) -> pa.Table:
    names = listed["object_name"].combine_chunks()
    mask = selected_of(names, source.include, source.exclude)
    if of_table is not None:
        mask &= ~pc.starts_with(names, of_table).to_numpy(zero_copy_only=False).astype(bool)
    return listed.filter(pa.array(mask))


def _table(infos: Sequence[ObjectInfo]) -> pa.Table:
    columns = [
        [info.name for info in infos],
        [info.size for info in infos],
        [info.token for info in infos],
        [info.checksum for info in infos],
        [info.modified for info in infos],
    ]
    return pa.table(columns, schema=LISTING)

"""List a source and turn the pages into columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from transforms.planning.diff import LISTING
from transforms.planning.select import selector
from transforms.storage.registry import open_store
from transforms.storage.roots import name_below

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from transforms.model.objects import ObjectInfo
    from transforms.stages.job import Job, SourceSpec

ROWS_AT_ONCE = 50_000
"""Objects of a table, about: a page of a listing is small, and a table has a price of its own."""


def listing_tables(job: Job, source: str) -> Iterator[pa.Table]:
    """The objects of the source that the run may be about, as tables of schema ``LISTING``.

    A source without objects has one empty table: it is planned like any other. The table's own files belong
    to no source, wherever the table lies.

    Raises:
        StorageError: the listing is not complete; nothing may be concluded from its part.
    """
    store = open_store(job.source[source].root)
    selected = _selector(job.source[source], name_below(store.root, open_store(job.table).root))
    held: list[ObjectInfo] = []
    for page in store.list(job.selection.prefix):
        held += [info for info in page if selected(info.name)]
        if len(held) >= ROWS_AT_ONCE:
            yield _table(held)
            held = []
    yield _table(held)


def _selector(source: SourceSpec, table: str | None) -> Callable[[str], bool]:
    selected = selector(source.include, source.exclude)
    if table is None:
        return selected
    return lambda name: not name.startswith(table) and selected(name)


def _table(infos: Sequence[ObjectInfo]) -> pa.Table:
    columns = [
        [info.name for info in infos],
        [info.size for info in infos],
        [info.token for info in infos],
        [info.checksum for info in infos],
        [info.modified for info in infos],
    ]
    return pa.table(columns, schema=LISTING)

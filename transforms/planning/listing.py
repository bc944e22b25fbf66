"""List a source and turn the pages into columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from transforms.planning.diff import LISTING
from transforms.planning.select import selector
from transforms.storage.registry import open_store
from transforms.storage.roots import name_below
from transforms.table.ipc import to_ipc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from transforms.stages.job import Job, SourceSpec


def listing_batches(job: Job, source: str) -> Iterator[tuple[bytes, int]]:
    """The objects that belong to the source: one Arrow IPC stream and its row count a page.

    A source without objects has one empty page: it is planned like any other. The table's own files belong
    to no source, wherever the table lies.

    Raises:
        StorageError: the listing is not complete; nothing may be concluded from its part.
    """
    store = open_store(job.source[source].root)
    selected = _selector(job.source[source], name_below(store.root, open_store(job.table).root))
    yield to_ipc(LISTING.empty_table()), 0
    for page in store.list():
        infos = [info for info in page if selected(info.name)]
        columns = [
            [info.name for info in infos], [info.size for info in infos], [info.token for info in infos]
        ]  # fmt: skip
        yield to_ipc(pa.table(columns, schema=LISTING)), len(infos)


def _selector(source: SourceSpec, table: str | None) -> Callable[[str], bool]:
    selected = selector(source.include, source.exclude)
    if table is None:
        return selected
    return lambda name: not name.startswith(table) and selected(name)

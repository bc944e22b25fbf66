"""List a source and turn the pages into columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from transforms.planning.diff import LISTING
from transforms.planning.select import selector
from transforms.storage.registry import open_store
from transforms.table.ipc import to_ipc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transforms.stages.job import SourceSpec


def listing_batches(source: SourceSpec) -> Iterator[tuple[bytes, int]]:
    """The objects that belong to the source: one Arrow IPC stream and its row count a page.

    A source without objects has one empty page: it is planned like any other.

    Raises:
        StorageError: the listing is not complete; nothing may be concluded from its part.
    """
    selected = selector(source.include, source.exclude)
    yield to_ipc(LISTING.empty_table()), 0
    for page in open_store(source.root).list():
        infos = [info for info in page if selected(info.name)]
        columns = [
            [info.name for info in infos], [info.size for info in infos], [info.token for info in infos]
        ]  # fmt: skip
        yield to_ipc(pa.table(columns, schema=LISTING)), len(infos)

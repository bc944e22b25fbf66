"""Whether a place may become a table: it is one, or it is empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.model.errors import TableError
from transforms.table.layout import RUNS, SNAPSHOTS
from transforms.table.pointer import read_pointer

if TYPE_CHECKING:
    from transforms.storage.protocol import Store

_OURS = (SNAPSHOTS, RUNS)


def require_table_or_empty(store: Store) -> None:
    """Pass a table and an empty or missing place.

    Raises:
        TableError: something else is there; its name is in the message.
    """
    if read_pointer(store) is not None or not store.exists_root():
        return
    # One level is enough, be the place a home directory.
    level = store.level()
    found = [*level.folders, *(info.name for info in level.objects)]
    strange = [name for name in found if name not in _OURS]
    if strange:
        raise TableError(
            f"{store.root} is no table: it holds {strange[0]}. Name an empty place or the folder of a table."
        )

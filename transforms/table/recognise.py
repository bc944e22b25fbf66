"""Whether a place may become a table: it is one, or it is empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.model.errors import TableError
from transforms.table.layout import LATEST
from transforms.table.pointer import read_pointer

if TYPE_CHECKING:
    from transforms.storage.protocol import Store

_OURS = ("snapshots/", "runs/", LATEST)


def require_table_or_empty(store: Store) -> None:
    """Pass a table and an empty or missing place.

    Raises:
        TableError: something else is there; its name is in the message.
    """
    if read_pointer(store) is not None or not store.exists_root():
        return
    for page in store.list():
        for info in page:
            if not info.name.startswith(_OURS):
                raise TableError(
                    f"{store.root} is no table: it holds {info.name}. "
                    "Name an empty place or the folder of a table."
                )

"""Which objects of a source are files of a table: that program's output is nobody's document.

Names alone do not say it: a folder called ``snapshots`` may be anything. Where one looks as if a table had it, the
pointer of the table that it would be is read, once a place; one without a pointer is known by what its oldest
snapshot holds.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.table.layout import LATEST, RUNS, SNAPSHOTS
from transforms.table.recognise import is_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from transforms.storage.protocol import Store

_OF_A_TABLE = (
    rf"(?:^|/)(?:{re.escape(LATEST)}$|{RUNS}\d{{8}}T\d{{6}}Z-[0-9a-f]{{8}}\.|{SNAPSHOTS}\d{{6,}}/)"
)
"""What the names of a table's files hold behind the folder that it is in."""
_PLACES = re.compile(rf"(?:^|(?<=/))(?:{re.escape(LATEST)}$|{RUNS}|{SNAPSHOTS}\d)")


class TableFiles:
    """Takes the files of tables out of a source's listing, page by page."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, bool] = {}
        self.left_out: Counter[str] = Counter()
        """How many objects were taken out, by the folder of the table as people name it."""

    def without(self, listed: pa.Table) -> pa.Table:
        """The listing without files of tables.

        Raises:
            CredentialsError: nothing can be read there.
        """
        names = listed["object_name"]
        looks: NDArray[np.bool_] = np.array(pc.match_substring_regex(names, _OF_A_TABLE), bool)
        if not looks.any():
            return listed
        stays = np.ones(len(looks), bool)
        for row in np.flatnonzero(looks).tolist():
            folder = self._table_of(names[row].as_py())
            if folder is not None:
                stays[row] = False
                self.left_out[self._store.uri(folder).rstrip("/")] += 1
        return listed.filter(pa.array(stays))

    def _table_of(self, name: str) -> str | None:
        """The folder of the table that the object belongs to, with its slash; the outermost one."""
        folders = (name[: found.start()] for found in _PLACES.finditer(name))
        return next((folder for folder in folders if self._is_table(folder)), None)

    def _is_table(self, folder: str) -> bool:
        if folder not in self._known:
            self._known[folder] = is_table(self._store, folder)
        return self._known[folder]

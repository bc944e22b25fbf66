"""Keep out of this process what loads of itself and is not needed: half a second of CPU in each run.

pyarrow looks for pandas the first time that it is given a list, in case it is one of pandas' own.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Hidden:
    """Says of pandas, and of nothing else, that it is not installed."""

    def find_spec(self, name: str, _path: Sequence[str] | None = None, _target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name, name=name)


def look_for_no_pandas() -> None:
    """Let pyarrow take lists for lists from now on.

    Who imports pandas later gets it, and what pyarrow does for pandas by name, as ``Table.to_pandas``, works. A
    series given to ``pyarrow.array`` would be taken for a list too, so this is for a command's process alone.
    """
    if "pandas" in sys.modules:
        return
    hidden = _Hidden()
    sys.meta_path.insert(0, hidden)
    try:
        pa.array([])
    finally:
        sys.meta_path.remove(hidden)

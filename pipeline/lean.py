"""Keep from a process that works on shards what it would spend on nothing: pandas, and looking for garbage.

pyarrow looks for pandas the first time that it is given a list, in case it is one of pandas' own: half a second of
CPU in each run. A shard is some hundred thousand small objects that refer to each other in no circle and live until
the shard is written; looking through them for circles, again and again, is some hundredths of the work.
"""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_OBJECTS_BETWEEN = 50_000
"""Objects more than before, after which circles are looked for; Python's own number is 700."""


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
    import pyarrow as pa

    hidden = _Hidden()
    sys.meta_path.insert(0, hidden)
    try:
        pa.array([])
    finally:
        sys.meta_path.remove(hidden)


def collect_rarely() -> None:
    """Look for circles of garbage less often, and never in what is loaded by now: for a process of our own."""
    gc.freeze()
    gc.set_threshold(_OBJECTS_BETWEEN)

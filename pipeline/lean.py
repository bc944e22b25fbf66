"""Keep from a process that works on shards what it would spend on nothing: pandas, looking for garbage, new pages.

pyarrow looks for pandas the first time that it is given a list, in case it is one of pandas' own: half a second of
CPU in each run. A shard is some hundred thousand small objects that refer to each other in no circle and live until
the shard is written; looking through them for circles, again and again, is some hundredths of the work. Columns are
blocks of megabytes: given back to the system after each shard and asked for again, they cost a tenth of a night.
"""

from __future__ import annotations

import ctypes
import gc
import platform
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_OBJECTS_BETWEEN = 50_000
"""Objects more than before, after which circles are looked for; Python's own number is 700."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""Of ``mallopt``, from glibc's ``malloc.h``."""
_KEPT_FREE_BYTES = 256 * 2**20
_OWN_MAPPING_BYTES = 32 * 2**20
"""The most that glibc takes; what is larger goes back to the system at once."""


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


def keep_memory() -> None:
    """Let this process use its own memory again, where it is Linux with glibc: Arrow's columns among the rest.

    With one arena threads take from the same memory; a shard is one thread's work. Arrow's own allocator holds half
    as much again and gives it back sooner.
    """
    if platform.libc_ver()[0] != "glibc":
        return
    import pyarrow as pa

    libc = ctypes.CDLL(None)
    for option, value in (
        (_ARENA_MAX, 1),
        (_TRIM_THRESHOLD, _KEPT_FREE_BYTES),
        (_MMAP_THRESHOLD, _OWN_MAPPING_BYTES),
    ):
        libc.mallopt(option, value)
    pa.set_memory_pool(pa.system_memory_pool())

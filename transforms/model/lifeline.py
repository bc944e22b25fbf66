"""Let a process end when the one that started it is gone, however that ended."""

from __future__ import annotations

import os
import signal
import threading
import time

_SECONDS = 0.5
"""Between looks at the parent."""


def end_with(parent: int, *, group: bool = False) -> None:
    """From now on end this process soon after its parent has.

    Args:
        parent: the id of the process that started this one.
        group: end all processes of this one's group, which must be its own.
    """
    threading.Thread(target=_watch, args=(parent, group), name="lifeline", daemon=True).start()


def _watch(parent: int, group: bool) -> None:  # noqa: FBT001 - a thread's target
    while os.getppid() == parent:
        time.sleep(_SECONDS)
    if group:
        os.killpg(0, signal.SIGKILL)
    os._exit(1)

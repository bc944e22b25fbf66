"""End at Ctrl-C or at SIGTERM with one sentence and one exit code, and wait for no thread that is still at work.

What dies half-way leaves the table as it was, so there is nothing to wait for.
"""

from __future__ import annotations

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

T = TypeVar("T")

_SIGNALS = {signal.SIGINT: "interrupted", signal.SIGTERM: "told to end"}
_SENTENCE = "Readers see the last snapshot that was published; the same command goes on from here."


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Whatever a signal makes of the body, the process ends with 128 and the signal's number."""
    seen: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        if seen:
            # Asked twice: not even claims are given back.
            os._exit(128 + number)
        seen.append(number)
        raise KeyboardInterrupt

    for number in _SIGNALS:
        # Who started this in the background may have said that it is not to be interrupted.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, note)
    try:
        yield
    except BaseException as error:
        if not seen or (isinstance(error, SystemExit) and not error.code):
            raise
        _leave(signal.Signals(seen[0]))


def apart(work: Callable[[], T]) -> T:
    """Do the work in a thread, so that an interruption reaches the caller at once and the work not at all."""
    pool = ThreadPoolExecutor(1, thread_name_prefix="work")
    try:
        return pool.submit(work).result()
    finally:
        pool.shutdown(wait=False)


def _leave(number: signal.Signals) -> None:
    with suppress(OSError):
        print(f"parquetry: {_SIGNALS[number]}. {_SENTENCE}", file=sys.stderr)
        sys.stdout.flush()
    # Threads may be in the middle of a shard, and their end is not worth waiting for.
    os._exit(128 + number)

"""List many objects by several requests at once: what follows in a long listing is divided by its folders.

One listing begins as any does, so that a small one costs nothing more. Each time that it has gone on for twice as
long, and threads are idle, it asks what lies in the folders that it is in, and hands those that it has not come to
over to others. It does so only if folders have had a page of objects on average, so that requests stay about
one a thousand objects.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from queue import Full, Queue
from threading import Event, Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from transforms.model.objects import ObjectInfo
    from transforms.storage.protocol import Store

THREADS = 8
_ALONE = 8
"""Pages before a listing is divided."""
_MOST = 4
"""Folders to hand over at most, for each page that was listed."""

_LOOK_SECONDS = 0.1
"""Between looks of a thread whose page nobody takes at whether anybody still wants it."""


def list_spread(store: Store, prefix: str = "") -> Iterator[Sequence[ObjectInfo]]:
    """All that ``store.list(prefix)`` tells, each object once; pages come in no order.

    At most two pages a thread wait for the caller. A store that says so is listed one request after the other.

    Raises:
        StorageError: the listing is not complete.
    """
    if not store.lists_apart:
        yield from store.list(prefix)
        return
    listing = _Spread(store)
    try:
        listing.begin(prefix)
        yield from listing.pages()
    finally:
        listing.close()


class _Spread:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._pool = ThreadPoolExecutor(THREADS)
        self._told: Queue[Sequence[ObjectInfo] | Exception | None] = Queue(2 * THREADS)
        self._under_way = 0
        self._lock = Lock()
        self._stopped = Event()

    def begin(self, prefix: str) -> None:
        with self._lock:
            self._under_way += 1
        self._pool.submit(self._run, prefix)

    def pages(self) -> Iterator[Sequence[ObjectInfo]]:
        while (told := self._told.get()) is not None:
            if isinstance(told, Exception):
                raise told
            yield told

    def close(self) -> None:
        """Let every thread end, whatever waits to be told."""
        self._stopped.set()
        self._pool.shutdown(cancel_futures=True)

    def _run(self, prefix: str) -> None:
        try:
            self._list(prefix)
        except Exception as error:  # noqa: BLE001 - raised where the caller is
            self._tell(error)
        with self._lock:
            self._under_way -= 1
            is_last = not self._under_way
        if is_last:
            self._tell(None)

    def _tell(self, told: Sequence[ObjectInfo] | Exception | None) -> None:
        while not self._stopped.is_set():
            try:
                self._told.put(told, timeout=_LOOK_SECONDS)
            except Full:
                continue
            return

    def _list(self, prefix: str) -> None:
        within = prefix
        divide_at = _ALONE
        for number, page in enumerate(self._store.list(prefix), start=1):
            mine = [info for info in page if info.name.startswith(within)]
            if mine:
                self._tell(mine)
            if self._stopped.is_set() or len(mine) < len(page):
                return
            if number >= divide_at and self._under_way < THREADS:
                divide_at = 2 * number
                left = self._hand_over(within, mine[-1].name, number)
                if left is None:
                    return
                within = left

    def _hand_over(self, within: str, last: str, pages: int) -> str | None:
        """Leave to others what comes after ``last``, level by level; the folder that stays, if any does.

        Names are sorted: what comes after is in folders after it, is an object after it, or in the folder it is in.
        """
        while True:
            level = self._store.level(within)
            after = [folder for folder in level.folders if folder > last and not last.startswith(folder)]
            passed = len(level.folders) - len(after)
            if not level.complete or passed > pages or len(after) > _MOST * pages:
                return within
            objects = [info for info in level.objects if info.name > last]
            if objects:
                self._tell(objects)
            for folder in after:
                self.begin(folder)
            inside = next((folder for folder in level.folders if last.startswith(folder)), None)
            if inside is None or inside == within:
                return None
            within = inside

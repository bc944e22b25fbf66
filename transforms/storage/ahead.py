"""Fetch ahead: the waits of many small requests pass together, and what comes of them is in order."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def fetch_ahead(
    items: Sequence[_Item],
    fetch: Callable[[_Item], _Result],
    size: Callable[[_Item], int],
    *,
    threads: int,
    budget: int,
) -> Iterator[_Result]:
    """What ``fetch`` gives for each item, in order; an error is raised where its item's turn is.

    Args:
        items: what to fetch.
        fetch: called for each item once, from several threads. After an error, or where the caller stops, those
            that have not begun are not called at all.
        size: bytes that an item will take.
        threads: calls at once at most; with one, each waits for its turn in the caller's thread.
        budget: bytes under way or waiting for their turn at most. An item that is larger has all of it.
    """
    if threads == 1 or len(items) < 2:
        yield from map(fetch, items)
        return
    pool = ThreadPoolExecutor(threads)
    ahead: deque[tuple[Future[_Result], int]] = deque()
    held = 0
    try:
        for item in items:
            needed = size(item)
            while ahead and (held + needed > budget or len(ahead) >= 2 * threads):
                first, freed = ahead.popleft()
                held -= freed
                yield first.result()
            ahead.append((pool.submit(fetch, item), needed))
            held += needed
        for first, _ in ahead:
            yield first.result()
    finally:
        pool.shutdown(cancel_futures=True)

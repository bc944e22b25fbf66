"""A seekable reader over a store that answers ranges: Parquet asks for a footer and some columns."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Buffer

READ_AHEAD = 2**20
"""Bytes that one request fetches at least: a footer, or the columns of a small file."""


def range_reader(size: int, fetch: Callable[[int, int], bytes]) -> io.BufferedReader:
    """A reader of ``size`` bytes; ``fetch(start, end)`` gets those of a half-open range."""
    return io.BufferedReader(Ranges(size, fetch), READ_AHEAD)


class Ranges(io.RawIOBase):
    """The same without a buffer: each read asks ``fetch``, which may give less than it is asked for."""

    def __init__(self, size: int, fetch: Callable[[int, int], bytes]) -> None:
        self._size = size
        self._fetch = fetch
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(0, start + offset)
        return self._position

    def readinto(self, buffer: Buffer, /) -> int:
        view = memoryview(buffer).cast("B")
        end = min(self._size, self._position + len(view))
        if end <= self._position:
            return 0
        data = self._fetch(self._position, end)
        view[: len(data)] = data
        self._position += len(data)
        return len(data)

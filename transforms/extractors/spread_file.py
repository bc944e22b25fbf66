"""A file of which some spans of bytes are at hand, at their places: for formats that name places in the file."""

from __future__ import annotations

import io
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Buffer


def spread_file(data: bytes, spans: Sequence[tuple[int, int]]) -> io.RawIOBase:
    """A file as long as the last span's end; ``data`` are the bytes of the spans, joined. Between them are zeros."""
    return _Spread(data, spans)


class _Spread(io.RawIOBase):
    def __init__(self, data: bytes, spans: Sequence[tuple[int, int]]) -> None:
        lengths = [end - start for start, end in spans]
        places = accumulate(lengths, initial=0)
        self._pieces = [(start, end, place) for (start, end), place in zip(spans, places, strict=False)]
        self._data = memoryview(data)
        self._size = spans[-1][1]
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
        first, last = self._position, min(self._size, self._position + len(view))
        if last <= first:
            return 0
        view[: last - first] = bytes(last - first)
        for start, end, place in self._pieces:
            begin, stop = max(first, start), min(last, end)
            if begin < stop:
                view[begin - first : stop - first] = self._data[
                    place + begin - start : place + stop - start
                ]
        self._position = last
        return last - first

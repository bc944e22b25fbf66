"""A file of which some spans of bytes are at hand, at their places: for formats that name places in the file."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from transforms.storage.ranges import Ranges

if TYPE_CHECKING:
    import io
    from collections.abc import Sequence


def spread_file(data: bytes, spans: Sequence[tuple[int, int]]) -> io.RawIOBase:
    """A file as long as the last span's end; ``data`` are the bytes of the spans, joined. Between them are zeros."""
    places = accumulate((end - start for start, end in spans), initial=0)
    pieces = [(start, end, place) for (start, end), place in zip(spans, places, strict=False)]
    held = memoryview(data)

    def fetch(first: int, last: int) -> bytes:
        found = bytearray(last - first)
        for start, end, place in pieces:
            begin, stop = max(first, start), min(last, end)
            if begin < stop:
                found[begin - first : stop - first] = held[place + begin - start : place + stop - start]
        return bytes(found)

    return Ranges(spans[-1][1], fetch)

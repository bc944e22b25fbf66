"""What the cutters of all formats have in common: pieces of an object, and its bytes in blocks of whole lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from transforms.extractors.settled_names import Wishes


class NotCutError(Exception):
    """The object is to be read whole: where its records begin, or how they are read, cannot be told."""


class Digest(Protocol):
    """A hash that is being computed, as those of hashlib."""

    def update(self, data: bytes, /) -> None:
        """Take more bytes in."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Records in a row, as a cutter found them."""

    spans: tuple[tuple[int, int], ...]
    before: int
    wishes: Wishes
    unsure: bool = False
    """Whether the name of one of them cannot be known."""
    width: int = 0
    """Columns of the widest row of the object, if it is a delimited text."""


def line_blocks(file: BinaryIO, size: int, most: int, digest: Digest) -> Iterator[bytes]:
    """The bytes of a file in blocks that end where a line does, of about ``size`` bytes; all go into ``digest``.

    Raises:
        NotCutError: a line has more than ``most`` bytes.
    """
    file.seek(0)
    left = b""
    while block := file.read(size):
        digest.update(block)
        end = block.rfind(b"\n") + 1
        if end:
            yield left + block[:end]
            left = block[end:]
        else:
            left += block
        if len(left) > most:
            raise NotCutError
    if left:
        yield left

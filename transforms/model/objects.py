"""What a listing says of an object, without its bytes; and a range of one that is read by itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class RecordRange:
    """Records of one object that are read by themselves, and give what reading the whole object gives of them."""

    spans: tuple[tuple[int, int], ...]
    """Half-open, in bytes of the object: what every range needs, as a header, and its own records."""
    before: int
    """Records of the object before them: lines, or rows."""
    object_sha256: str
    """Of the bytes of the whole object."""
    errors: Literal["strict", "surrogatepass", "replace"] = "strict"
    """How bytes of the object's text that are no UTF-8 are read, as Python calls it."""
    width: int = 0
    """Columns of the widest row of the object, if it is a delimited text."""
    names: tuple[tuple[int, str], ...] = ()
    """Records by number that have another name than they would have without the ranges before: they share an id."""
    unsure: bool = False
    """Whether the object has a record whose name cannot be known: any that is missing may be it."""

    @property
    def size(self) -> int:
        """Bytes to be read."""
        return sum(end - start for start, end in self.spans)


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """One object of a listing.

    ``name`` is relative to the root that was listed and never interpreted: ``#``, ``?`` and ``*`` are
    characters like others. ``token`` changes whenever the content may have changed: a generation, an
    ETag or a checksum where the store gives one, else size and modification time in nanoseconds.
    """

    name: str
    size: int
    token: str
    checksum: str = field(default="", compare=False)
    """What the store knows of the content itself, as ``md5:...``; "" where it knows nothing."""
    modified: int | None = field(default=None, compare=False)
    """When it was written last, in seconds since 1970; None where that is not told."""
    records: RecordRange | None = None
    """The records of it that are meant; None: all of the object."""

    @property
    def read_size(self) -> int:
        """Bytes to be read."""
        return self.size if self.records is None else self.records.size

    @property
    def is_first(self) -> bool:
        """Whether it begins the object: of the ranges of one, one does."""
        return self.records is None or self.records.before == 0

"""What a listing says of an object: its name, size and version, without its bytes."""

from __future__ import annotations

from dataclasses import dataclass, field


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

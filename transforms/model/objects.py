"""What a listing says of an object: its name, size and version, without its bytes."""

from __future__ import annotations

from dataclasses import dataclass


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

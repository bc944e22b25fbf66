"""Which names of a listing belong to a source.

Globs are those of wcmatch: ``*`` within a folder, ``**`` across folders, ``[...]``, a backslash for a
literal character. Names are compared as they are: case counts, and a leading dot is a character.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wcmatch import glob

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_FLAGS = glob.GLOBSTAR | glob.DOTGLOB | glob.CASE | glob.FORCEUNIX


def selector(include: Sequence[str], exclude: Sequence[str]) -> Callable[[str], bool]:
    """A test for names: matched by one of ``include`` and by none of ``exclude``."""
    wanted = glob.compile(list(include), flags=_FLAGS)
    unwanted = glob.compile(list(exclude), flags=_FLAGS) if exclude else None

    def selected(name: str) -> bool:
        # Empty segments say nothing, the first one as little as others.
        name = name.lstrip("/")
        return wanted.match(name) and not (unwanted and unwanted.match(name))

    return selected

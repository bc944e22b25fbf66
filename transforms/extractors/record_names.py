"""What each record of an object is called: by its id, else by its number, and no two the same.

The second record of one name is ``name (2)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class RecordNames:
    """The names given so far; ``told`` are those by number that are known before."""

    def __init__(self, told: Mapping[int, str] | None = None) -> None:
        self._told = {} if told is None else told
        self._taken: set[str] = set()
        self._seconds: dict[str, int] = {}

    def take(self, number: int, name: str) -> str:
        """The name of a record that would like to be called ``name``."""
        own = self._told[number] if number in self._told else self.free(name)
        self._taken.add(own)
        return own

    def free(self, name: str) -> str:
        """The name that it would get."""
        if name not in self._taken:
            return name
        # Those below are taken, and stay so.
        number = self._seconds.get(name, 2)
        while (own := f"{name} ({number})") in self._taken:
            number += 1
        self._seconds[name] = number
        return own

"""Which names of a vocabulary a chunk mentions: whole tags only, however they are spelled.

Case, the kind of hyphen, and a space in its place make no difference; a longer tag is never taken for a
shorter one inside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from transforms.chunkers.compat.yau import linked_equipment

if TYPE_CHECKING:
    from transforms.chunkers.settings import ChunkSettings

_ATOM = re.compile(r"[^\W_]+")
_HYPHENS = frozenset("-\u00ad\u2010\u2011\u2012\u2013\u2014\u2212_")
_GLUE = "-"


@dataclass(frozen=True, slots=True)
class Mentions:
    """What a chunk mentions, in order of first mention; ``single`` if that is one name only."""

    names: tuple[str, ...]
    single: str | None


def mentions_in(settings: ChunkSettings) -> Callable[[str, Sequence[str]], Mentions]:
    """What finds the names of the settings in a chunk's text and the headings above it."""
    chosen = settings.entities
    if chosen is None:
        return lambda _text, _path: Mentions((), None)
    if settings.compat == "yau":
        return partial(_as_before, names=chosen.vocabulary)
    vocabulary, scope = Vocabulary(chosen.vocabulary), chosen.scope

    def find(text: str, path: Sequence[str]) -> Mentions:
        above = path if "breadcrumb" in scope else ()
        return vocabulary.mentions(*above, *((text,) if "text" in scope else ()))

    return find


def _as_before(text: str, _path: Sequence[str], names: Sequence[str]) -> Mentions:
    """By substring, in the text alone."""
    folded = text.lower()
    found = tuple(name for name in names if name.lower() in folded)
    return Mentions(found, linked_equipment(text, names))


class Vocabulary:
    """Names to be found in texts. Built once; a search is linear in the text."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = {fold(name): name for name in names if fold(name)}
        self._longest = max((len(_ATOM.findall(name)) for name in self._names), default=0)

    def mentions(self, *texts: str) -> Mentions:
        """The names that the texts mention."""
        if not self._names:
            return Mentions((), None)
        names = tuple(dict.fromkeys(name for text in texts for name in self._found(text)))
        return Mentions(names, names[0] if len(names) == 1 else None)

    def _found(self, text: str) -> Iterable[str]:
        atoms = [found.span() for found in _ATOM.finditer(text)]
        gaps = ["", *(_gap(text[a[1] : b[0]]) for a, b in pairwise(atoms)), ""]
        place = 0
        while place < len(atoms):
            length, name = self._longest_at(text, atoms, gaps, place)
            if name is not None:
                yield name
            place += max(length, 1)

    def _longest_at(
        self, text: str, atoms: Sequence[tuple[int, int]], gaps: Sequence[str], first: int
    ) -> tuple[int, str | None]:
        """How many atoms the longest name that begins here has, and the name; no part of a longer tag."""
        if gaps[first] == _GLUE:
            return 0, None
        key = ""
        best: tuple[int, str | None] = (0, None)
        for after in range(first + 1, min(first + self._longest, len(atoms)) + 1):
            start, end = atoms[after - 1]
            key += ("" if after == first + 1 else _joint(gaps[after - 1])) + text[start:end].casefold()
            if gaps[after] != _GLUE and key in self._names:
                best = (after - first, self._names[key])
        return best


def fold(name: str) -> str:
    """The form in which names are compared."""
    atoms = [found.span() for found in _ATOM.finditer(name)]
    key = "".join(
        name[a[0] : a[1]].casefold() + _joint(_gap(name[a[1] : b[0]])) for a, b in pairwise(atoms)
    )
    return key + (name[slice(*atoms[-1])].casefold() if atoms else "")


def _gap(between: str) -> str:
    """What stands between two atoms: a hyphen of any kind is glue, and white space is a space."""
    bare = between.strip()
    if not bare:
        return between if "\n" in between else " "
    return _GLUE if len(bare) == 1 and bare in _HYPHENS and len(between) == 1 else between


def _joint(gap: str) -> str:
    return _GLUE if gap == " " else gap

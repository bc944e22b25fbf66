"""Which names of a vocabulary a chunk mentions: whole tags only, however they are spelled.

Case, the kind of hyphen, and a space in its place make no difference; a longer tag is never taken for a
shorter one inside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from transforms.chunkers.compat.yau import linked_equipment
from transforms.model.errors import ConfigError

if TYPE_CHECKING:
    from transforms.chunkers.settings import ChunkSettings, EntitySettings

_ATOM = re.compile(r"[^\W_]+")
_HYPHENS = frozenset("-\u00ad\u2010\u2011\u2012\u2013\u2014\u2212_")
Fold: TypeAlias = Literal["case", "hyphens", "spaces"]
FOLDS: tuple[Fold, ...] = get_args(Fold)


@dataclass(frozen=True, slots=True)
class Mentions:
    """What a chunk mentions, in order of first mention; ``single`` if that is one name only."""

    names: tuple[str, ...]
    single: str | None


_NOTHING = Mentions((), None)


def mentions_in(settings: ChunkSettings) -> Callable[[str, Sequence[str]], Mentions]:
    """What finds the names of the settings in a chunk's text and the headings above it.

    Raises:
        ConfigError: the names are still in their file.
    """
    chosen = settings.entities
    if chosen is None:
        return lambda _text, _path: _NOTHING
    if isinstance(chosen.vocabulary, str):
        raise ConfigError(f"entities.vocabulary: {chosen.vocabulary} has not been read.")
    if settings.compat == "yau":
        return partial(_as_before, names=chosen.vocabulary)
    return _finder(chosen)


@lru_cache(maxsize=64)
def _finder(chosen: EntitySettings) -> Callable[[str, Sequence[str]], Mentions]:
    vocabulary, scope = Vocabulary(chosen.vocabulary, chosen.fold), chosen.scope

    def find(text: str, path: Sequence[str]) -> Mentions:
        above = path if "breadcrumb" in scope else ()
        names = vocabulary.names(*above, *((text,) if "text" in scope else ()))
        return Mentions(names, _linked(names, chosen.link))

    return find


def _linked(names: Sequence[str], link: str) -> str | None:
    if not names or link == "none" or (link == "single" and len(names) > 1):
        return None
    return names[0]


def _as_before(text: str, _path: Sequence[str], names: Sequence[str]) -> Mentions:
    """By substring, in the text alone."""
    folded = text.lower()
    found = tuple(name for name in names if name.lower() in folded)
    return Mentions(found, linked_equipment(text, names))


class Vocabulary:
    """Names to be found in texts. Built once; a search is linear in the text."""

    def __init__(self, names: Iterable[str], folds: Sequence[Fold] = FOLDS) -> None:
        self._folds = folds
        self._names = {key: name for name in names if (key := fold(name, folds))}
        self._longest = max((len(_ATOM.findall(name)) for name in self._names), default=0)

    def names(self, *texts: str) -> tuple[str, ...]:
        """The names that the texts mention, in order of first mention."""
        if not self._names:
            return ()
        return tuple(dict.fromkeys(name for text in texts for name in self._found(text)))

    def mentions(self, *texts: str) -> Mentions:
        """The names, and the one that is meant if it is the only one."""
        names = self.names(*texts)
        return Mentions(names, _linked(names, "single"))

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
        if _is_glue(gaps[first]):
            return 0, None
        key = ""
        best: tuple[int, str | None] = (0, None)
        for after in range(first + 1, min(first + self._longest, len(atoms)) + 1):
            start, end = atoms[after - 1]
            joint = "" if after == first + 1 else _joint(gaps[after - 1], self._folds)
            key += joint + _cased(text[start:end], self._folds)
            if not _is_glue(gaps[after]) and key in self._names:
                best = (after - first, self._names[key])
        return best


def fold(name: str, folds: Sequence[Fold] = FOLDS) -> str:
    """The form in which names are compared."""
    atoms = [found.span() for found in _ATOM.finditer(name)]
    key = "".join(
        _cased(name[a[0] : a[1]], folds) + _joint(_gap(name[a[1] : b[0]]), folds)
        for a, b in pairwise(atoms)
    )
    return key + (_cased(name[slice(*atoms[-1])], folds) if atoms else "")


def _cased(atom: str, folds: Sequence[Fold]) -> str:
    return atom.casefold() if "case" in folds else atom


def _gap(between: str) -> str:
    """What stands between two atoms: a single hyphen of any kind, white space as one space, or what it is."""
    bare = between.strip()
    if not bare:
        return between if "\n" in between else " "
    return between


def _is_glue(gap: str) -> bool:
    """Whether two atoms are parts of one tag."""
    return gap in _HYPHENS


def _joint(gap: str, folds: Sequence[Fold]) -> str:
    if _is_glue(gap) and "hyphens" in folds:
        return "-"
    return "-" if gap == " " and "spaces" in folds else gap

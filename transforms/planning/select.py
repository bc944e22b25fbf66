"""Which names of a listing belong to a source.

Globs are those of wcmatch: ``*`` within a folder, ``**`` across folders, ``[...]``, a backslash for a
literal character. Names are compared as they are: case counts, and a leading dot is a character.

A listing has millions of names, so the usual patterns are looked for in whole columns; patterns with more than
``*``, ``?`` and ``**``, and names with a line break or an empty segment, are left to wcmatch.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from wcmatch import glob

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

_FLAGS = glob.GLOBSTAR | glob.DOTGLOB | glob.CASE | glob.FORCEUNIX
_ODD_NAME = r"\n|(?:^|/)(?:/|$)"
_DOTS = re.compile(r"(?:(?<=/)|^)\.{1,2}(?=/|$)")
"""A segment of dots alone: in a bucket it is a name like others, and wcmatch lets no pattern match it."""
_PLAIN = re.compile(r"(?:[^\\*?\[\]{}()|!@+]|(?<!\*)\*(?!\*)|\?|\\.)*", re.DOTALL)
"""A segment without sets, and without two stars side by side."""
_MARK = re.compile(r"\\(.)|([*?])", re.DOTALL)


def selected_of(names: pa.Array, include: Sequence[str], exclude: Sequence[str]) -> NDArray[np.bool_]:
    """Which names are matched by one of ``include`` and by none of ``exclude``."""
    odd = _found(names, _ODD_NAME)
    selected = _any_of(names, include, odd) & ~_any_of(names, exclude, odd)
    return np.asarray(selected)


def _any_of(names: pa.Array, patterns: Sequence[str], odd: NDArray[np.bool_]) -> NDArray[np.bool_]:
    matched = np.zeros(len(names), bool)
    rest = odd
    for pattern in patterns:
        expression = expression_of(pattern)
        if expression is None:
            rest = np.ones(len(names), bool)
        else:
            matched |= _found(names, expression)
    for place in np.flatnonzero(rest).tolist():
        matched[place] = _matcher(tuple(patterns))(names[place].as_py())
    return matched


def _found(names: pa.Array, expression: str) -> NDArray[np.bool_]:
    found = pc.match_substring_regex(names, expression)
    return np.asarray(found.to_numpy(zero_copy_only=False)).astype(bool)


@lru_cache(maxsize=256)
def _matcher(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    if not patterns:
        return lambda _: False
    matcher = glob.compile(list(patterns), flags=_FLAGS)
    # Empty segments say nothing, the first one as little as others.
    return lambda name: bool(matcher.match(_DOTS.sub("\\g<0>\0", name.lstrip("/"))))


def expression_of(pattern: str) -> str | None:
    """A regular expression for names without empty segments, ``.`` and ``..``; None for a pattern with sets."""
    segments = pattern.split("/")
    if "" in segments or not all(one == "**" or _PLAIN.fullmatch(one) for one in segments):
        return None
    parts = []
    for place, segment in enumerate(segments):
        last = place == len(segments) - 1
        if segment == "**":
            parts.append(".+" if last else "(?:.*/)?")
        else:
            parts.append(_segment(segment) + ("" if last else "/"))
    return f"(?s)^{''.join(parts)}$"


def _segment(segment: str) -> str:
    """One segment's expression; a star alone is a name, and no name is empty."""
    if segment == "*":
        return "[^/]+"
    parts, at = [], 0
    for mark in _MARK.finditer(segment):
        parts.append(re.escape(segment[at : mark.start()]))
        parts.append({"*": "[^/]*", "?": "[^/]", None: re.escape(mark[1] or "")}[mark[2]])
        at = mark.end()
    return "".join([*parts, re.escape(segment[at:])])

"""Writes an office formula on one line: fractions with a stroke, powers with ``^``, indices with ``_``.

Brackets, roots, sums and bars are elements or attributes of their own there and no characters; what is left out of a
file stands for a sign that its format tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from transforms.extractors.letters import left_open
from transforms.extractors.safe_xml import Element, local_name

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_GONE = frozenset({"del", "moveFrom"})
"""What tracked changes took out."""
_SCRIPTS = {
    "sSup": (("^", "sup"),), "sSub": (("_", "sub"),), "sSubSup": (("_", "sub"), ("^", "sup")),
    "limLow": (("_", "lim"),), "limUpp": (("^", "lim"),),
}  # fmt: skip
"""What stands behind a base, in order, each behind its sign."""
_ABOVE = {"acc": "\u0302", "bar": "\u0305"}
"""Marks above a letter, where the file names none."""


def formula_text(formula: Element) -> str:
    """The text of a formula, without what only lays it out."""
    return "".join(_pieces(formula))


def _pieces(formula: Element) -> Iterator[str]:
    for child in formula:
        name = local_name(child)
        if name in _SCRIPTS:
            yield _part(child, "e") + "".join(_behind(child, *each) for each in _SCRIPTS[name])
        elif name in _WRITERS:
            yield _WRITERS[name](child)
        elif name == "t":
            yield child.text or ""
        elif name not in _GONE:
            yield from _pieces(child)


def _fraction(element: Element) -> str:
    stroke = "\u00a6" if _stated(element, "type", "bar") == "noBar" else "/"
    return f"{_part(element, 'num')}{stroke}{_part(element, 'den')}"


def _brackets(element: Element) -> str:
    parts = (formula_text(part) for part in element.iterfind(f"{_M}e"))
    inside = _stated(element, "sepChr", "|").join(parts)
    return f"{_stated(element, 'begChr', '(')}{inside}{_stated(element, 'endChr', ')')}"


def _root(element: Element) -> str:
    degree = _inner(element, "deg")
    return f"{_part(element, 'e')}^(1/{degree})" if degree else f"\u221a{_part(element, 'e')}"


def _sum(element: Element) -> str:
    limits = _behind(element, "_", "sub") + _behind(element, "^", "sup")
    return f"{_stated(element, 'chr', chr(0x222B))}{limits} {_inner(element, 'e')}"


def _function(element: Element) -> str:
    argument = _inner(element, "e")
    return f"{_inner(element, 'fName')}{'' if argument[:1] in ('(', '[') else ' '}{argument}"


def _before(element: Element) -> str:
    return f"{_behind(element, '_', 'sub')}{_behind(element, '^', 'sup')}{_part(element, 'e')}"


def _matrix(element: Element) -> str:
    rows = (", ".join(map(formula_text, row.iterfind(f"{_M}e"))) for row in element.iterfind(f"{_M}mr"))
    return "; ".join(rows)


def _equations(element: Element) -> str:
    return "; ".join(map(formula_text, element.iterfind(f"{_M}e")))


def _accent(element: Element) -> str:
    """A letter with its mark; above more than a letter the mark goes."""
    text = _inner(element, "e")
    if len(text) != 1 or _stated(element, "pos", "top") == "bot":
        return text
    return text + _stated(element, "chr", _ABOVE[local_name(element)])


_WRITERS: dict[str, Callable[[Element], str]] = {
    "f": _fraction, "d": _brackets, "rad": _root, "nary": _sum, "func": _function, "sPre": _before, "m": _matrix,
    "eqArr": _equations, "acc": _accent, "bar": _accent,
}  # fmt: skip


def _stated(element: Element, name: str, default: str) -> str:
    """What an element's properties say; stated to be empty, it is."""
    found = element.find(f"{_M}{local_name(element)}Pr/{_M}{name}")
    return default if found is None else found.get(f"{_M}val", default)


def _behind(element: Element, sign: str, name: str) -> str:
    part = _part(element, name)
    return f"{sign}{part}" if part else ""


def _inner(element: Element, name: str) -> str:
    found = element.find(f"{_M}{name}")
    return "" if found is None else formula_text(found)


def _part(parent: Element, name: str) -> str:
    """One side of a sign, in brackets where it is more than one word."""
    text = _inner(parent, name)
    is_one = text.isalnum() or (
        text[:1] in ("(", "[") and left_open(text[:-1]) == 1 and left_open(text) == 0
    )
    return text if is_one or not text else f"({text})"

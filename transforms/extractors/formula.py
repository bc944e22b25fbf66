"""Writes an office formula on one line: fractions with a stroke, powers with ``^``, indices with ``_``."""

from __future__ import annotations

from collections.abc import Iterator

from transforms.extractors.safe_xml import Element, local_name

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_SIGNS = {"f": ("num", "/", "den"), "sSup": ("e", "^", "sup"), "sSub": ("e", "_", "sub")}


def formula_text(formula: Element) -> str:
    """The text of a formula, without what only lays it out."""
    return "".join(_pieces(formula))


def _pieces(formula: Element) -> Iterator[str]:
    for child in formula:
        name = local_name(child)
        if name in _SIGNS:
            left, sign, right = _SIGNS[name]
            yield f"{_part(child, left)}{sign}{_part(child, right)}"
        elif child.tag == f"{_M}t":
            yield child.text or ""
        else:
            yield from _pieces(child)


def _part(parent: Element, name: str) -> str:
    """One side of a sign, in brackets where it is more than one word."""
    found = parent.find(f"{_M}{name}")
    text = "" if found is None else formula_text(found)
    return text if text.isalnum() or not text else f"({text})"

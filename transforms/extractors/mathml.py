"""Writes a page's formula (MathML) on one line: fractions with a stroke, powers with ``^``, indices with ``_``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_SIGNS = {
    "mfrac": "/", "msup": "^", "mover": "^", "msub": "_", "munder": "_", "msubsup": "_^", "munderover": "_^",
}  # fmt: skip
"""What stands between the parts of an element, in order."""
_APART = re.compile(r"[=<>+\u2212±×÷·→⇒⇔↔∈∉⊂⊆∪∩∧∨∼≈≠≡≤≥≪≫∝-]+")
_PREFIXED = re.compile(r" [+\u2212±-] \S")
_UNSAID = ("annotation", "annotation-xml")
"""The same formula in another notation."""
_WORDLESS = re.compile(r"[\u2061-\u2064]")


def mathml_text(formula: HtmlElement) -> str:
    """The text of a formula, with spaces around what relates or joins two sides."""
    return " ".join("".join(_pieces(formula)).split())


def _pieces(element: HtmlElement) -> Iterator[str]:
    if not isinstance(element.tag, str) or element.tag in _UNSAID:
        return
    children = [child for child in element if isinstance(child.tag, str)]
    signs = _SIGNS.get(element.tag, "")
    if signs and len(children) == len(signs) + 1:
        for sign, child in zip(("", *signs), children, strict=True):
            yield f"{sign}{_part(child)}"
    elif element.tag == "msqrt":
        yield f"√{_bracketed(_joined(children))}"
    elif element.tag == "mfenced":
        yield _fenced(element, children)
    elif element.tag == "mroot" and len(children) == 2:
        yield f"{_part(children[0])}^(1/{mathml_text(children[1])})"
    elif not children:
        yield _leaf(element)
    else:
        yield _joined(children)
    if element.tag in ("mtr", "mtd"):
        yield " "


def _fenced(element: HtmlElement, children: list[HtmlElement]) -> str:
    """Parts in brackets that are attributes, with signs between them that are too."""
    signs = "".join((element.get("separators", ",")).split())
    text = ""
    for number, child in enumerate(children):
        if number and signs:
            text += f"{signs[min(number, len(signs)) - 1]} "
        text += "".join(_pieces(child)).strip()
    return f"{element.get('open', '(')}{text}{element.get('close', ')')}"


def _joined(children: list[HtmlElement]) -> str:
    """Parts of a row; plus or minus before the first belongs to it."""
    text = "".join(piece for child in children for piece in _pieces(child))
    return f"{text[1]}{text[3:]}" if _PREFIXED.match(text) else text


def _leaf(element: HtmlElement) -> str:
    text = _WORDLESS.sub("", element.text_content())
    return f" {text.strip()} " if _is_sign(element) else text if element.tag == "mtext" else text.strip()


def _is_sign(element: HtmlElement) -> bool:
    return element.tag == "mo" and _APART.fullmatch(element.text_content().strip()) is not None


def _part(element: HtmlElement) -> str:
    return _bracketed(mathml_text(element))


def _bracketed(text: str) -> str:
    """One side of a sign, in brackets where it is more than one word."""
    text = " ".join(text.split())
    return text if text.isalnum() or len(text) < 2 else f"({text})"

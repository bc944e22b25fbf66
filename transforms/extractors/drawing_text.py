"""Decides what the paragraphs of a drawing's text say: their lines, levels, bullets and numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from transforms.extractors.formula import formula_text
from transforms.extractors.numerals import letters, roman
from transforms.extractors.safe_xml import Element, local_name
from transforms.extractors.scripts import lowered, raised, settled

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_MAX_LEVEL = 8
_SCHEME = re.compile("(?P<kind>alpha|roman)(?P<case>[UL]c)(?P<end>Period|ParenR|ParenBoth)")
_ENDS = {"Period": ("", "."), "ParenR": ("", ")"), "ParenBoth": ("(", ")")}


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; ``bullet`` is None where it says nothing of one, ``number`` counts in numbered lists."""

    text: str
    level: int = 0
    bullet: bool | None = None
    number: int | None = None


def paragraphs(shape: Element) -> Iterator[Paragraph]:
    """The paragraphs of a shape, a cell or a diagram's node in order."""
    counts: dict[int, int] = {}
    for element in shape.iter(f"{_A}p"):
        text = settled("".join(_inline(element)))
        properties = element.find(f"{_A}pPr")
        if properties is None:
            counts.clear()
            yield Paragraph(text)
        else:
            yield _paragraph(text, properties, counts)


def _paragraph(text: str, properties: Element, counts: dict[int, int]) -> Paragraph:
    stated = properties.get("lvl", "0")
    level = min(int(stated), _MAX_LEVEL) if stated.isdecimal() else 0
    numbered = properties.find(f"{_A}buAutoNum")
    for deeper in [other for other in counts if other > level or (other == level and numbered is None)]:
        del counts[deeper]
    if numbered is not None:
        start = numbered.get("startAt", "1")
        counts[level] = counts.get(level, int(start) - 1 if start.isdecimal() else 0) + 1
        label = _label(numbered.get("type", ""), counts[level])
        if label:
            return Paragraph(f"{label} {text}" if text.strip() else text, level, bullet=True)
        return Paragraph(text, level, bullet=True, number=counts[level])
    if properties.find(f"{_A}buNone") is not None:
        return Paragraph(text, level, bullet=False)
    marked = properties.find(f"{_A}buChar") is not None or properties.find(f"{_A}buBlip") is not None
    return Paragraph(text, level, bullet=True if marked else None)


def _label(scheme: str, number: int) -> str:
    """What a slide shows for a number in letters or Roman numerals, by the name of the scheme; empty for digits."""
    found = _SCHEME.fullmatch(scheme)
    if found is None:
        return ""
    numeral = letters(number) if found["kind"] == "alpha" else roman(number)
    before, behind = _ENDS[found["end"]]
    return f"{before}{numeral.upper() if found['case'] == 'Uc' else numeral}{behind}"


def _script_of(run: Element) -> Callable[[str], str]:
    properties = run.find(f"{_A}rPr")
    baseline = "0" if properties is None else properties.get("baseline", "0")
    return str if not baseline.strip("0%") else lowered if baseline.startswith("-") else raised


def _inline(parent: Iterable[Element]) -> Iterator[str]:
    for child in parent:
        name = local_name(child)
        if name in ("r", "fld"):
            yield _script_of(child)(child.findtext(f"{_A}t") or "")
        elif name == "br":
            yield "\n"
        elif name in ("oMath", "oMathPara"):
            yield formula_text(child)
        elif name == "AlternateContent":
            yield from _inline(next(iter(child), ()))  # the others say the same in older words
        elif name in ("m", "Choice"):
            yield from _inline(child)

"""Decides what a Word paragraph is: heading, code, list item, hidden or a line of a table of contents."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from transforms.extractors.numerals import letters, roman
from transforms.extractors.safe_xml import Element

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
VAL = f"{W}val"

_HEADING = re.compile(r"heading ?([1-9])", re.IGNORECASE)
_CONTENTS = re.compile(r"toc ?[1-9]|toc heading|table of figures", re.IGNORECASE)
_CODE = re.compile(
    r"code|source ?code|code ?block|html ?preformatted|macro ?text|preformatted ?text|(?:program)?listing",
    re.IGNORECASE,
)
_LIST = re.compile(r"list (?:bullet|number|continue) ([2-5])", re.IGNORECASE)
_NUMERALS: dict[str, Callable[[int], str]] = {
    "lowerLetter": letters, "upperLetter": lambda number: letters(number).upper(),
    "lowerRoman": roman, "upperRoman": lambda number: roman(number).upper(),
}  # fmt: skip
_PLACES = re.compile("%([1-9])")
_MAX_LEVELS = 9
_MAX_CHAIN = 32
"""A style chain longer than this is a loop."""


@dataclass(frozen=True, slots=True)
class ParagraphKind:
    """What a style makes of its paragraphs; ``heading`` is 1 to 6, ``list_id`` names a numbering."""

    heading: int | None = None
    code: bool = False
    contents: bool = False
    hidden: bool = False
    list_id: str | None = None
    list_level: int = 0
    list_indent: int = 0
    """Levels that the style itself sets its lists in by, each with a numbering of its own."""

    @property
    def list_depth(self) -> int:
        """How many lists an item stands in, besides its own."""
        return max(self.list_level, self.list_indent)


class Styles:
    """The styles of a document, each with what it takes from the styles it is based on."""

    def __init__(self, root: Element | None) -> None:
        self._styles: dict[str, Element] = {}
        self._kinds: dict[str | None, ParagraphKind] = {}
        self._default: str | None = None
        for style in () if root is None else root.iterfind(f"{W}style"):
            style_id = style.get(f"{W}styleId", "")
            self._styles.setdefault(style_id, style)
            if style.get(f"{W}type") == "paragraph" and is_on(style.get(f"{W}default", "0")):
                self._default = style_id

    def paragraph(self, properties: Element | None) -> ParagraphKind:
        """What a paragraph is by its style and its own properties, which win."""
        if properties is None:
            return self._kind(self._default)
        kind = self._kind(_value(properties, "pStyle") or self._default)
        return _with(kind, properties)

    def hidden(self, properties: Element | None) -> bool | None:
        """Whether a run's properties hide it; None when they say nothing of it."""
        found = self._of_run(properties, "vanish")
        return None if found is None else is_on(found.get(VAL))

    def script(self, properties: Element | None) -> str | None:
        """``superscript``, ``subscript`` or what else a run's properties say of where it stands."""
        found = self._of_run(properties, "vertAlign")
        return None if found is None else found.get(VAL)

    def _of_run(self, properties: Element | None, name: str) -> Element | None:
        """A property of a run: its own, else that of its style."""
        if properties is None:
            return None
        own = properties.find(f"{W}{name}")
        if own is not None:
            return own
        runs = (style.find(f"{W}rPr") for style in self._chain(_value(properties, "rStyle")))
        found = (None if run is None else run.find(f"{W}{name}") for run in runs)
        return next((each for each in found if each is not None), None)

    def _kind(self, style_id: str | None) -> ParagraphKind:
        if style_id not in self._kinds:
            kind = ParagraphKind()
            for style in reversed(self._chain(style_id)):
                kind = _named(kind, _value(style, "name") or "")
                run, paragraph = style.find(f"{W}rPr"), style.find(f"{W}pPr")
                hidden = None if run is None else _switch(run, "vanish")
                if hidden is not None:
                    kind = replace(kind, hidden=hidden)
                if paragraph is not None:
                    kind = _with(kind, paragraph)
            if style_id and style_id not in self._styles:
                kind = _named(kind, style_id)
            self._kinds[style_id] = kind
        return self._kinds[style_id]

    def _chain(self, style_id: str | None) -> list[Element]:
        """A style and those it is based on, nearest first."""
        chain: list[Element] = []
        while style_id in self._styles and len(chain) < _MAX_CHAIN:
            chain.append(self._styles[style_id])
            style_id = _value(chain[-1], "basedOn")
        return chain


@dataclass(frozen=True, slots=True)
class _Level:
    number_format: str = "decimal"
    start: int = 1
    text: str = ""
    """What is shown, ``%1`` for the number of the first level, ``%2`` of the second."""


@dataclass(frozen=True, slots=True)
class ItemNumber:
    """The number of an item, and what is shown for it where digits and a point do not say it."""

    number: int
    label: str = ""


class Numbering:
    """Counts the items of numbered lists as Word does: one count for all lists of one definition."""

    def __init__(self, root: Element | None) -> None:
        self._definitions: dict[str, dict[int, _Level]] = {}
        self._lists: dict[str, str] = {}
        self._restarts: dict[str, dict[int, int]] = {}
        self._counts: dict[str, dict[int, int]] = {}
        if root is None:
            return
        for definition in root.iterfind(f"{W}abstractNum"):
            self._definitions[definition.get(f"{W}abstractNumId", "")] = _levels(definition)
        for number in root.iterfind(f"{W}num"):
            list_id = number.get(f"{W}numId", "")
            self._lists[list_id] = _value(number, "abstractNumId") or ""
            self._restarts[list_id] = {
                _integer(override.get(f"{W}ilvl"), 0): _integer(start.get(VAL), 1)
                for override in number.iterfind(f"{W}lvlOverride")
                for start in override.iterfind(f"{W}startOverride")
            }

    def next_number(self, list_id: str, level: int) -> ItemNumber | None:
        """The number of the next item at a level; None for a list of bullets. Moves the count."""
        definition = self._lists.get(list_id, "")
        known = self._definitions.get(definition, {}).get(level)
        if known is None or known.number_format in ("bullet", "none"):
            return None
        counts = self._counts.setdefault(definition, {})
        restart = self._restarts.get(list_id, {}).pop(level, None)
        if restart is not None:
            counts[level] = restart
        else:
            counts[level] = counts[level] + 1 if level in counts else known.start
        for deeper in [other for other in counts if other > level]:
            del counts[deeper]
        return ItemNumber(counts[level], _label(self._definitions[definition], level, counts))


def is_on(value: str | None) -> bool:
    """What an on/off attribute says; present without a value is on."""
    return value is None or value.lower() not in ("0", "false", "off")


def _with(kind: ParagraphKind, properties: Element) -> ParagraphKind:
    """A kind changed by paragraph properties: outline level and numbering."""
    outline = _value(properties, "outlineLvl")
    if outline is not None:
        level = _integer(outline, _MAX_LEVELS)
        kind = replace(kind, heading=min(level + 1, 6) if level < _MAX_LEVELS else None)
    numbering = properties.find(f"{W}numPr")
    if numbering is not None:
        list_id = _value(numbering, "numId") or kind.list_id
        level = min(_integer(_value(numbering, "ilvl"), kind.list_level), _MAX_LEVELS - 1)
        kind = replace(kind, list_id=None if list_id == "0" else list_id, list_level=max(level, 0))
    return kind


def _named(kind: ParagraphKind, name: str) -> ParagraphKind:
    """A kind changed by the name of a style; the names of built-in styles are English in every language."""
    if match := _HEADING.fullmatch(name):
        return replace(kind, heading=min(int(match[1]), 6))
    if match := _LIST.fullmatch(name):
        return replace(kind, list_indent=int(match[1]) - 1)
    if name.lower() == "title":
        return replace(kind, heading=1)
    if _CONTENTS.fullmatch(name):
        return replace(kind, contents=True, heading=None)
    if _CODE.fullmatch(name):
        return replace(kind, code=True)
    return kind


def _label(levels: dict[int, _Level], level: int, counts: dict[int, int]) -> str:
    """What is shown of an item's number and those above it; empty where it is what Markdown shows."""
    own = levels[level]
    if own.number_format not in _NUMERALS and own.text.rstrip(".)") in ("", f"%{level + 1}"):
        return ""

    def written(place: re.Match[str]) -> str:
        above = int(place[1]) - 1
        known = levels.get(above, _Level())
        return _NUMERALS.get(known.number_format, str)(counts.get(above, known.start))

    return _PLACES.sub(written, own.text).strip()


def _levels(definition: Element) -> dict[int, _Level]:
    return {
        _integer(level.get(f"{W}ilvl"), 0): _Level(
            _value(level, "numFmt") or "decimal",
            _integer(_value(level, "start"), 1),
            _value(level, "lvlText") or "",
        )
        for level in definition.iterfind(f"{W}lvl")
    }


def _value(parent: Element, child: str) -> str | None:
    found = parent.find(f"{W}{child}")
    return None if found is None else found.get(VAL)


def _switch(parent: Element, child: str) -> bool | None:
    found = parent.find(f"{W}{child}")
    return None if found is None else is_on(found.get(VAL))


def _integer(value: str | None, default: int) -> int:
    try:
        return int(value) if value is not None else default
    except ValueError:
        return default

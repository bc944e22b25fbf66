"""In which order the shapes of a slide are read: as they stand on it, from the top left.

Files keep shapes in the order in which they are drawn, which is that of their making. Read by places, a slide is cut
where a gap goes across all of it, into rows first and into columns where there is none, and each part again. Shapes
whose place is nowhere stated follow the one that they follow in the file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from transforms.extractors.ooxml import Package
from transforms.extractors.safe_xml import Element

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_OVERLAP = 137_160
"""EMU (914,400 an inch) by which shapes that stand apart may overlap: the margins of text boxes and half as much."""

_Shape = TypeVar("_Shape")


class Place(NamedTuple):
    """A shape's box in EMU from the top left."""

    left: int
    top: int
    right: int
    bottom: int


class Places:
    """Where the shapes of a presentation's slides stand: by themselves, or by the placeholder that they fill."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._trees: dict[str, Element] = {}

    def of(self, part: str) -> Callable[[Element], Place | None]:
        """What tells a shape's place among its neighbours on one slide; None where nothing states it."""
        return lambda shape: _stated(shape) or self._inherited(shape, part)

    def _inherited(self, shape: Element, part: str) -> Place | None:
        wanted = _placeholder(shape)
        if wanted is None:
            return None
        places = (_stated(other) for layout in self._layouts(part) for other in _filling(layout, wanted))
        return next((place for place in places if place is not None), None)

    def _layouts(self, part: str) -> Iterator[Element]:
        """The slide's layout and its master, as far as there are any."""
        for kind in ("slideLayout", "slideMaster"):
            relations = self._package.relations(part).values()
            found = next((one.target for one in relations if one.kind == kind), None)
            if found is None or found not in self._package.archive:
                return
            if found not in self._trees:
                self._trees[found] = self._package.tree(found)
            yield self._trees[found]
            part = found


def in_reading_order(shapes: Iterable[_Shape], place_of: Callable[[_Shape], Place | None]) -> list[_Shape]:
    """Shapes from the top left to the bottom right; as they were where no place is known."""
    runs: list[tuple[Place, list[_Shape]]] = []
    first: list[_Shape] = []
    for shape in shapes:
        place = place_of(shape)
        if place is not None:
            runs.append((place, [shape]))
        else:
            (runs[-1][1] if runs else first).append(shape)
    return first + [shape for _, run in _ordered(runs) for shape in run]


def _ordered(runs: list[tuple[Place, list[_Shape]]]) -> list[tuple[Place, list[_Shape]]]:
    ordered: list[tuple[Place, list[_Shape]]] = []
    pending = [runs]
    while pending:
        part = pending.pop()
        parts = _cut(part, 1) or _cut(part, 0)
        if parts:
            pending += reversed(parts)
        else:
            ordered += sorted(part, key=lambda run: (run[0].top, run[0].left))
    return ordered


def _cut(
    runs: Sequence[tuple[Place, list[_Shape]]], axis: int
) -> list[list[tuple[Place, list[_Shape]]]] | None:
    """The parts between gaps: rows for axis 1, columns for axis 0; None where no gap goes across."""
    parts: list[list[tuple[Place, list[_Shape]]]] = []
    end = -math.inf
    for run in sorted(runs, key=lambda run: run[0][axis]):
        first, last = run[0][axis], run[0][axis + 2]
        if parts and first < end - _OVERLAP:
            parts[-1].append(run)
        else:
            parts.append([run])
        end = max(end, last)
    return parts if len(parts) > 1 else None


def _stated(shape: Element) -> Place | None:
    frame = next(shape.iterfind(f"{_P}spPr/{_A}xfrm"), None)
    if frame is None:
        frame = next(shape.iterfind(f"{_P}grpSpPr/{_A}xfrm"), None)
    if frame is None:
        frame = shape.find(f"{_P}xfrm")
    corner, size = (None, None) if frame is None else (frame.find(f"{_A}off"), frame.find(f"{_A}ext"))
    if corner is None or size is None:
        return None
    try:
        left, top = int(corner.get("x", "")), int(corner.get("y", ""))
        return Place(left, top, left + int(size.get("cx", "")), top + int(size.get("cy", "")))
    except ValueError:
        return None


def _placeholder(shape: Element) -> Element | None:
    return next((found for child in shape if (found := child.find(f"{_P}nvPr/{_P}ph")) is not None), None)


def _filling(layout: Element, wanted: Element) -> Iterable[Element]:
    """The shapes of a layout for a placeholder: that of its number, then those of its kind."""
    shapes = [(shape, _placeholder(shape)) for shape in layout.iterfind(f"{_P}cSld/{_P}spTree/{_P}sp")]
    for name, default in (("idx", None), ("type", "obj")):
        value = wanted.get(name, default)
        if value is not None:
            yield from (
                shape for shape, own in shapes if own is not None and own.get(name, default) == value
            )

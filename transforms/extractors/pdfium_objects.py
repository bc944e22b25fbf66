"""What PDFium's page objects say of a page: ruled lines, invisible text, pictures, lost text."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import pypdfium2.raw as pdfium

from transforms.extractors.pdf_cells import Box
from transforms.extractors.pdf_layers import layers_of
from transforms.extractors.pdf_tables import Edge

if TYPE_CHECKING:
    import pypdfium2

Matrix: TypeAlias = tuple[float, float, float, float, float, float]
_Found: TypeAlias = tuple[object, int, Matrix, tuple[object, ...]]
"""An object, its kind, where the forms that it is drawn in put it, and those forms from the outermost one."""

_IDENTITY: Matrix = (1, 0, 0, 1, 0, 0)
_MAX_DEPTH = 6
_MAX_OBJECTS = 20_000
_MAX_EDGES = 3_000
"""With more, a page is a drawing and no table is looked for."""
_BOUNDS = (ctypes.c_float(), ctypes.c_float(), ctypes.c_float(), ctypes.c_float())
_X, _Y = ctypes.c_float(), ctypes.c_float()
"""What PDFium writes numbers into; one lock guards them as it guards PDFium."""
_STRAIGHT = 0.1
"""Points by which the ends of a horizontal or vertical line differ at most."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A page's corner and size, and how it is turned: makes its coordinates points from the top left."""

    left: float
    bottom: float
    width: float
    height: float
    rotation: int

    @classmethod
    def of(cls, page: pypdfium2.PdfPage, rotation: int) -> Frame:
        left, bottom, right, top = page.get_bbox()
        return cls(left, bottom, right - left, top - bottom, rotation)

    @property
    def shown_size(self) -> tuple[float, float]:
        """Width and height of the page as it is shown."""
        return (self.height, self.width) if self.rotation in (90, 270) else (self.width, self.height)

    @property
    def matrix(self) -> Matrix:
        """What makes a point of the page one of the page as it is shown: from the left, from the top."""
        if self.rotation == 90:
            return 0, 1, 1, 0, -self.bottom, -self.left
        if self.rotation == 180:
            return -1, 0, 0, 1, self.width + self.left, -self.bottom
        if self.rotation == 270:
            return 0, -1, -1, 0, self.height + self.bottom, self.width + self.left
        return 1, 0, 0, -1, -self.left, self.height + self.bottom

    def leaves_out(self, left: float, bottom: float, right: float, top: float) -> bool:
        """Whether a part of a rectangle is beside the page."""
        return (
            left < self.left
            or bottom < self.bottom
            or right > self.left + self.width
            or top > self.bottom + self.height
        )

    def box(self, left: float, bottom: float, right: float, top: float) -> Box:
        """A rectangle of the page as it is shown."""
        if self.rotation == 0:
            return (
                left - self.left,
                self.height - top + self.bottom,
                right - self.left,
                self.height - bottom + self.bottom,
            )
        a, b, c, d, e, f = self.matrix
        xa, ya = a * left + c * bottom + e, b * left + d * bottom + f
        xb, yb = a * right + c * top + e, b * right + d * top + f
        return min(xa, xb), min(ya, yb), max(xa, xb), max(ya, yb)


@dataclass(slots=True)
class ObjectFacts:
    """What was found on a page."""

    edges: list[Edge] = field(default_factory=list)
    texts: int = 0
    lost: int = 0
    """Text objects of no width, which PDFium leaves out of the text: so it sees vertical writing."""
    invisible: int = 0
    switched_off: set[int] = field(default_factory=set)
    """The addresses of text objects on layers that are not shown."""
    outside: int = 0
    """Text objects that reach over an edge of the page as it is shown."""
    spans: list[tuple[float, float]] = field(default_factory=list)
    """The left and the right end of each piece of text, as the page has them."""
    is_picture: bool = False
    """Whether one picture covers most of the page."""

    @property
    def may_have_tables(self) -> bool:
        """Whether there are lines enough for two rows or two columns."""
        if len(self.edges) > _MAX_EDGES:
            return False
        upright = sum(edge.is_vertical for edge in self.edges)
        return upright >= 2 and len(self.edges) - upright >= 2


def page_objects(
    page: pypdfium2.PdfPage, frame: Frame, *, with_edges: bool, layers_off: frozenset[str] = frozenset()
) -> ObjectFacts:
    """Look at every object of a page, those inside others included."""
    facts = ObjectFacts()
    for number, (handle, kind, matrix, outer) in enumerate(_objects(page)):
        if number >= _MAX_OBJECTS:
            break
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            _look_at_text(handle, facts, frame if matrix == _IDENTITY else None)
            if layers_off and any(not layers_off.isdisjoint(layers_of(one)) for one in (handle, *outer)):
                facts.switched_off.add(address(handle))
        elif kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            bounds = _bounds(handle)
            area = (bounds[2] - bounds[0]) * (bounds[3] - bounds[1])
            facts.is_picture |= matrix == _IDENTITY and area > 0.5 * frame.width * frame.height
        elif kind == pdfium.FPDF_PAGEOBJ_PATH and with_edges and len(facts.edges) <= _MAX_EDGES:
            facts.edges += _edges(handle, matrix, frame)
    return facts


def address(handle: Any) -> int:
    """Where an object is: handles of one object are equal in nothing else."""
    return ctypes.addressof(handle.contents)


def _objects(page: pypdfium2.PdfPage) -> Iterator[_Found]:
    count = pdfium.FPDFPage_CountObjects(page)
    for index in range(count):
        yield from _with_inner(pdfium.FPDFPage_GetObject(page, index), _IDENTITY, ())


def _with_inner(handle: object, matrix: Matrix, outer: tuple[object, ...]) -> Iterator[_Found]:
    kind = pdfium.FPDFPageObj_GetType(handle)
    if kind != pdfium.FPDF_PAGEOBJ_FORM:
        yield handle, kind, matrix, outer
    elif len(outer) < _MAX_DEPTH:
        inner = _times(_matrix(handle), matrix)
        for index in range(pdfium.FPDFFormObj_CountObjects(handle)):
            yield from _with_inner(pdfium.FPDFFormObj_GetObject(handle, index), inner, (*outer, handle))


def _look_at_text(handle: object, facts: ObjectFacts, frame: Frame | None) -> None:
    """Count a piece of text; of one that is drawn inside another object no place on the page is known."""
    facts.texts += 1
    left, bottom, right, top = _bounds(handle)
    facts.spans.append((left, right))
    facts.outside += frame is not None and frame.leaves_out(left, bottom, right, top)
    facts.lost += right - left < 0.01 < top - bottom
    facts.invisible += pdfium.FPDFTextObj_GetTextRenderMode(handle) == 3


def _bounds(handle: object) -> tuple[float, float, float, float]:
    left, bottom, right, top = _BOUNDS
    pdfium.FPDFPageObj_GetBounds(handle, left, bottom, right, top)
    return left.value, bottom.value, right.value, top.value


def _matrix(handle: object) -> Matrix:
    found = pdfium.FS_MATRIX()
    if not pdfium.FPDFPageObj_GetMatrix(handle, found):
        return _IDENTITY
    return found.a, found.b, found.c, found.d, found.e, found.f


def _times(first: Matrix, second: Matrix) -> Matrix:
    a, b, c, d, e, f = first
    p, q, r, s, t, u = second
    return a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u


def _edges(path: object, outer: Matrix, frame: Frame) -> Iterator[Edge]:
    """The horizontal and vertical lines of a path that is painted."""
    fill, stroke = ctypes.c_int(), pdfium.FPDF_BOOL()
    pdfium.FPDFPath_GetDrawMode(path, fill, stroke)
    if not fill.value and not stroke.value:
        return
    a, b, c, d, e, f = _times(_times(_matrix(path), outer), frame.matrix)
    for (xs, ys), (xe, ye) in _segments(path):
        xa, ya = a * xs + c * ys + e, b * xs + d * ys + f
        xb, yb = a * xe + c * ye + e, b * xe + d * ye + f
        if abs(xa - xb) <= _STRAIGHT and abs(ya - yb) > _STRAIGHT:
            yield Edge(xa, min(ya, yb), xa, max(ya, yb))
        elif abs(ya - yb) <= _STRAIGHT and abs(xa - xb) > _STRAIGHT:
            yield Edge(min(xa, xb), ya, max(xa, xb), ya)


def _segments(path: object) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    first = current = (0.0, 0.0)
    for index in range(pdfium.FPDFPath_CountSegments(path)):
        segment = pdfium.FPDFPath_GetPathSegment(path, index)
        pdfium.FPDFPathSegment_GetPoint(segment, _X, _Y)
        point = (_X.value, _Y.value)
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            first = point
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            yield current, point
        current = point
        if pdfium.FPDFPathSegment_GetClose(segment):
            yield current, first
            current = first

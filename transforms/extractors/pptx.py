"""Reads presentations: a slide is a page, its title a heading, its speaker notes a marked section.

Shapes are read as they stand on the slide, from the top left. Left out are dates, footers and slide numbers, comments
and, unless asked for, hidden slides and shapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from transforms.extractors.chart import write_charts
from transforms.extractors.diagram import diagram_lines
from transforms.extractors.drawing_text import Paragraph, paragraphs
from transforms.extractors.markdown_writer import MarkdownWriter, Written
from transforms.extractors.ooxml import RELATION_ID, Package
from transforms.extractors.pptx_places import Places, in_reading_order
from transforms.extractors.safe_xml import Element, local_name

if TYPE_CHECKING:
    from transforms.extractors.settings import ExtractSettings

NOTES_TITLE = "Speaker notes"

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_TITLES = ("title", "ctrTitle")
_REPEATED = ("dt", "ftr", "sldNum", "hdr", "sldImg")


class _Slide:
    """Writes one slide's shapes."""

    def __init__(
        self, package: Package, part: str, places: Places, out: MarkdownWriter, *, keep_hidden: bool
    ) -> None:
        self._package = package
        self._part = part
        self._place_of = places.of(part)
        self._out = out
        self._keep_hidden = keep_hidden

    def write(self, root: Element) -> None:
        """The titles first, wherever they stand, then the other shapes, then the notes."""
        shapes = list(self._shapes(root.iterfind(f"{_P}cSld/{_P}spTree/*")))
        for shape in shapes:
            if _placeholder(shape) in _TITLES:
                self._out.heading(1, " ".join(line.text for line in paragraphs(shape)))
        for shape in shapes:
            self._shape(shape)
        self._notes()

    def _shapes(self, candidates: Iterable[Element]) -> Iterator[Element]:
        """The shapes with content of their own as they are read: groups are opened where they stand."""
        for shape in in_reading_order(_chosen(candidates), self._place_of):
            name = local_name(shape)
            if self._is_hidden(shape):
                continue
            if name == "grpSp":
                yield from self._shapes(shape)
            elif name in ("sp", "graphicFrame"):
                yield shape

    def _is_hidden(self, shape: Element) -> bool:
        properties = next((child.find(f"{_P}cNvPr") for child in shape), None)
        hidden = properties is not None and properties.get("hidden") in ("1", "true")
        return hidden and not self._keep_hidden

    def _shape(self, shape: Element) -> None:
        kind = _placeholder(shape)
        if kind in _TITLES or kind in _REPEATED:
            return
        if local_name(shape) == "graphicFrame":
            self._frame(shape)
        else:
            self._lines(list(paragraphs(shape)), bulleted=kind in ("body", "obj"))

    def _lines(self, lines: list[Paragraph], *, bulleted: bool) -> None:
        """Paragraphs as items of a list where they say so, or where the layout's bullets apply."""
        bulleted = bulleted and len([line for line in lines if line.text.strip()]) > 1
        for line in lines:
            if bulleted if line.bullet is None else line.bullet:
                self._out.item(line.text, line.level, line.number)
            else:
                self._out.paragraph(line.text)

    def _frame(self, frame: Element) -> None:
        """A table, a chart, or the text of a diagram."""
        for table in frame.iter(f"{_A}tbl"):
            self._out.table(_grid(table))
        write_charts(self._package, self._part, frame, self._out)
        self._lines(diagram_lines(self._package, self._part, frame), bulleted=True)

    def _notes(self) -> None:
        notes = self._package.related(self._part, "notesSlide")
        if notes is None:
            return
        bodies = [shape for shape in notes.iter(f"{_P}sp") if _placeholder(shape) == "body"]
        lines = [line for body in bodies for line in paragraphs(body)]
        if any(line.text.strip() for line in lines):
            self._out.heading(2, NOTES_TITLE)
            self._lines(lines, bulleted=False)


def read_pptx(package: Package, settings: ExtractSettings) -> Written:
    """The slides of a presentation in order, each a page.

    Raises:
        RejectedError: ``corrupt``, ``encrypted`` or ``decompression_bomb``.
    """
    out = MarkdownWriter()
    keep_hidden = settings.hidden_text == "keep"
    main = package.main_part()
    root = package.tree(main)
    first = root.get("firstSlideNum", "")
    relations = package.relations(main)
    places = Places(package)
    for position, entry in enumerate(root.iterfind(f"{_P}sldIdLst/{_P}sldId")):
        relation = relations.get(entry.get(RELATION_ID, ""))
        if relation is None:
            continue
        slide = package.tree(relation.target)
        if slide.get("show") in ("0", "false") and not keep_hidden:
            continue
        out.page(position + 1, str(int(first) + position) if first.isdecimal() else None)
        _Slide(package, relation.target, places, out, keep_hidden=keep_hidden).write(slide)
    return out, ()


def _chosen(candidates: Iterable[Element]) -> Iterator[Element]:
    """The elements themselves, of alternatives the first."""
    for element in candidates:
        if local_name(element) == "AlternateContent":
            yield from _chosen(next(iter(element), ()))
        else:
            yield element


def _placeholder(shape: Element) -> str | None:
    """The kind of placeholder a shape fills; ``obj`` is the one without a kind."""
    found = next((child.find(f"{_P}nvPr/{_P}ph") for child in shape), None)
    return None if found is None else found.get("type", "obj")


def _grid(table: Element) -> Iterator[list[str]]:
    """A table's rows, merged cells repeated in each place they cover."""
    above: list[str] = []
    for row in table.iterfind(f"{_A}tr"):
        texts: list[str] = []
        for cell in row.iterfind(f"{_A}tc"):
            if cell.get("vMerge") in ("1", "true") and len(texts) < len(above):
                texts.append(above[len(texts)])
            elif cell.get("hMerge") in ("1", "true") and texts:
                texts.append(texts[-1])
            else:
                texts.append(" ".join(line.text for line in paragraphs(cell)))
        above = texts
        yield texts

"""Reads Word documents: headings, lists, tables, code, text boxes and notes of the text as it stands now.

Left out are page headers and footers, comments, what tracked changes deleted, generated tables of contents
(their entries are the headings) and, unless asked for, hidden text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import TYPE_CHECKING

from transforms.extractors.chart import write_charts
from transforms.extractors.diagram import diagram_lines
from transforms.extractors.docx_chunks import write_chunk
from transforms.extractors.docx_styles import VAL, Numbering, ParagraphKind, Styles, W
from transforms.extractors.docx_text import RunReader
from transforms.extractors.markdown_writer import MarkdownWriter, Written
from transforms.extractors.ooxml import RELATION_ID, Package
from transforms.extractors.safe_xml import Element, local_name

if TYPE_CHECKING:
    from transforms.extractors.settings import ExtractSettings

_NOTE_PARTS = {"footnote": "footnotes", "endnote": "endnotes"}
_ROW_HOLDERS = frozenset({"sdt", "sdtContent", "customXml", "ins", "moveTo"})
_MAX_SPAN = 63
"""Word allows this many columns in a table; a file may claim more."""


class _Body:
    """Walks through a document's blocks and writes them."""

    def __init__(
        self, package: Package, part: str, roots: Iterable[Element], settings: ExtractSettings
    ) -> None:
        self._package = package
        self._part = part
        self._settings = settings
        self._styles = Styles(package.related(part, "styles"))
        self._numbering = Numbering(package.related(part, "numbering"))
        self._runs = RunReader(self._styles, roots, keep_hidden=settings.hidden_text == "keep")
        self._out = MarkdownWriter()
        self._code: list[str] = []
        self._carried = ""
        self._warnings: list[str] = []

    def write(self, root: Element, notes: dict[str, Element]) -> Written:
        """Write all blocks, then the notes in the order in which the text points at them."""
        self._blocks(root)
        self._flush()
        position = 0
        while position < len(self._runs.notes):
            kind, note_id = self._runs.notes[position]
            position += 1
            text = " ".join(self._cell_lines(_note(notes.get(kind), note_id)))
            if text.strip():
                self._out.paragraph(f"[^{position}]: {text.strip()}")
        return self._out, tuple(self._warnings)

    def _blocks(self, parent: Iterable[Element]) -> None:
        for child in parent:
            if child.tag == f"{W}p":
                self._paragraph(child)
            elif child.tag == f"{W}tbl":
                self._table(child)
            elif child.tag == f"{W}altChunk":
                self._chunk(child)
            elif not _left_out(child):
                self._blocks(child)

    def _chunk(self, chunk: Element) -> None:
        """A part of the text that is a file of its own."""
        relation = self._package.relations(self._part).get(chunk.get(RELATION_ID, ""))
        if relation is not None:
            self._flush()
            warning = write_chunk(self._package, relation.target, self._settings, self._out)
            self._warnings += [warning] if warning else []

    def _paragraph(self, paragraph: Element) -> None:
        kind, text = self._read(paragraph)
        boxes = self._runs.take_boxes()
        if _mark_deleted(paragraph):
            self._carried = text
        elif kind.code:
            self._code.append(text)
        elif not kind.contents:
            self._flush()
            self._write(kind, text)
        for box in boxes:
            self._blocks(box)
        self._graphics()

    def _graphics(self) -> None:
        """What the drawings of the last paragraph or table show besides text boxes."""
        for drawing in self._runs.take_drawings():
            write_charts(self._package, self._part, drawing, self._out)
            for line in diagram_lines(self._package, self._part, drawing):
                self._out.item(line.text, line.level)

    def _read(self, paragraph: Element) -> tuple[ParagraphKind, str]:
        kind = self._styles.paragraph(paragraph.find(f"{W}pPr"))
        text = self._carried + self._runs.paragraph(paragraph, hidden=kind.hidden)
        self._carried = ""
        return kind, text

    def _write(self, kind: ParagraphKind, text: str) -> None:
        if kind.heading is not None:
            self._out.heading(kind.heading, text)
        elif kind.list_id is not None and text.strip():
            item = self._numbering.next_number(kind.list_id, kind.list_level)
            if item is not None and item.label:
                self._out.item(f"{item.label} {text}", kind.list_depth)
            else:
                self._out.item(text, kind.list_depth, None if item is None else item.number)
        else:
            self._out.paragraph(text)

    def _flush(self) -> None:
        """Write the code that has come together from paragraphs in a row."""
        if self._code:
            self._out.code("\n".join(self._code))
            self._code = []

    def _table(self, table: Element) -> None:
        rows = list(_rows(table))
        cells = [cell for row in rows for cell in _cells(row)]
        self._flush()
        if len(cells) == 1:
            self._blocks(cells[0])
            self._flush()
        else:
            headers = takewhile(lambda row: row.find(f"{W}trPr/{W}tblHeader") is not None, rows)
            self._out.table(self._grid(rows), sum(1 for _ in headers))
        self._graphics()

    def _grid(self, rows: Iterable[Element]) -> Iterator[list[str]]:
        """The rows' cells, merged ones repeated in each place they cover."""
        above: dict[int, str] = {}
        for row in rows:
            texts = [""] * _span(row.find(f"{W}trPr"), "gridBefore", default=0)
            for cell in _cells(row):
                properties = cell.find(f"{W}tcPr")
                if _continues(properties, "vMerge"):
                    text = above.get(len(texts), "")
                elif texts and _continues(properties, "hMerge"):
                    text = texts[-1]
                else:
                    text = " ".join(self._cell_lines(cell))
                texts += [text] * _span(properties, "gridSpan", default=1)
            above = dict(enumerate(texts))
            yield texts

    def _cell_lines(self, parent: Iterable[Element]) -> Iterator[str]:
        """The paragraphs in a cell or a note, those of tables and text boxes in it too."""
        for child in parent:
            if child.tag == f"{W}p":
                kind, text = self._read(child)
                boxes = self._runs.take_boxes()
                yield self._numbered(kind, text)
                for box in boxes:
                    yield from self._cell_lines(box)
            elif child.tag == f"{W}tbl":
                for row in self._grid(_rows(child)):
                    yield " ".join(filter(None, row))
            elif not _left_out(child):
                yield from self._cell_lines(child)

    def _numbered(self, kind: ParagraphKind, text: str) -> str:
        if kind.list_id is None or kind.heading is not None or not text.strip():
            return text
        item = self._numbering.next_number(kind.list_id, kind.list_level)
        return text if item is None else f"{item.label or f'{item.number}.'} {text}"


def read_docx(package: Package, settings: ExtractSettings) -> Written:
    """The blocks of a Word document in reading order.

    Raises:
        RejectedError: ``corrupt``, ``encrypted`` or ``decompression_bomb``.
    """
    part = package.main_part()
    root = package.tree(part)
    notes = {kind: package.related(part, name) for kind, name in _NOTE_PARTS.items()}
    known = {kind: found for kind, found in notes.items() if found is not None}
    body = _Body(package, part, (root, *known.values()), settings)
    return body.write(root, known)


def _left_out(element: Element) -> bool:
    """Whether a block-level element has no text of its own: properties, deletions, tables of contents."""
    if local_name(element) in ("del", "moveFrom", "sectPr", "sdtPr", "tcPr", "tblPr", "pPr", "background"):
        return True
    gallery = element.find(f"{W}sdtPr/{W}docPartObj/{W}docPartGallery")
    return gallery is not None and gallery.get(VAL) == "Table of Contents"


def _mark_deleted(paragraph: Element) -> bool:
    """Whether a tracked change joined a paragraph with the next one."""
    return paragraph.find(f"{W}pPr/{W}rPr/{W}del") is not None


def _rows(table: Element) -> Iterator[Element]:
    for child in table:
        if child.tag == f"{W}tr":
            if child.find(f"{W}trPr/{W}del") is None:
                yield child
        elif local_name(child) in _ROW_HOLDERS:
            yield from _rows(child)


def _cells(row: Element) -> Iterator[Element]:
    for child in row:
        if child.tag == f"{W}tc":
            if child.find(f"{W}tcPr/{W}cellDel") is None:
                yield child
        elif local_name(child) in _ROW_HOLDERS:
            yield from _cells(child)


def _continues(properties: Element | None, name: str) -> bool:
    """Whether a cell is the lower part of one that is merged downwards, or the right one of one merged across."""
    merge = None if properties is None else properties.find(f"{W}{name}")
    return merge is not None and merge.get(VAL, "continue") == "continue"


def _span(properties: Element | None, name: str, *, default: int) -> int:
    found = None if properties is None else properties.find(f"{W}{name}")
    value = "" if found is None else found.get(VAL, "")
    return min(int(value), _MAX_SPAN) if value.isdecimal() else default


def _note(notes: Element | None, note_id: str) -> Iterable[Element]:
    for note in () if notes is None else notes:
        if note.get(f"{W}id") == note_id:
            return note
    return ()

"""Reads one page by PDFium: its lines with their places, its tables and the values of its form.

PDFium gives the text of a page in one call; places cost a call each, so they are asked for where they
decide something: at the ends of lines and, on pages with ruled tables, for each character.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

import pypdfium2.raw as pdfium

from transforms.extractors.letters import in_words, readable, unmirrored
from transforms.extractors.pdf_cells import Box
from transforms.extractors.pdf_lines import HYPHEN_AT_LINE_END, Line, PageLines
from transforms.extractors.pdf_order import Gutter, by_columns, downwards, gutters, is_prose, may_be_mixed
from transforms.extractors.pdf_scripts import Piece, with_numbers_apart, with_scripts
from transforms.extractors.pdf_tables import Written, ruled_tables, written_tables
from transforms.extractors.pdfium_objects import Frame, ObjectFacts, address, page_objects
from transforms.extractors.scripts import settled
from transforms.model.document import canonical_text

if TYPE_CHECKING:
    import pypdfium2
    from pdfplumber.table import Table

    from transforms.extractors.settings import ExtractSettings

INVISIBLE = "invisible_text_left_out"
OFF_PAGE = "off_page_text_left_out"
OFF_LAYER = "switched_off_layer_left_out"
NUL = "nul_dropped"
"""Warning with a count: letters that the font's map sends to U+0000, which no text may hold."""
_LINE = re.compile(f"[^\r\n{HYPHEN_AT_LINE_END}]+{HYPHEN_AT_LINE_END}?")
_SYMBOL = re.compile(r"^(\s*)[\ue000-\uf8ff](?=\s+\S)")
"""At the start of a line, a sign of a font of symbols is a bullet."""
_MARK = re.compile(r"(?:\d{1,3}|[*\u2020\u2021\u00a7\u00b6])(?=[^\W\d_a-z])")
"""A footnote's mark before its first word, where a line begins with it in small letters."""
_MARK_SIZE = 0.85
_INVISIBLE_MODE = 3
_LOST_SHARE = 0.2
_SAMPLES = 24
_FORM_BUFFER = 1 << 16
_UNSEEN = pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff]")
_ARABIC_LETTERS = re.compile("[\u0621-\u064a\u066e-\u06d3]{2,}")
_RECTANGLE = pdfium.FS_RECTF()
_MATRIX = pdfium.FS_MATRIX()
"""What PDFium writes places into; one lock guards it as it guards PDFium."""


@dataclass(slots=True)
class _Text:
    """The text of a page, and where in PDFium's list of characters each of its characters is."""

    page: pypdfium2.PdfTextPage
    handle: object
    """Of the page in PDFium; asked for each time it would cost a sixth of a call."""
    frame: Frame
    text: str
    units: list[int] | None
    """UTF-16 units before each character; None where each is one."""
    is_plain: bool
    """Whether text and list agree one to one."""

    def index(self, position: int) -> int:
        unit = position if self.units is None else self.units[position]
        if self.is_plain:
            return unit
        return int(pdfium.FPDFText_GetCharIndexFromTextIndex(self.handle, unit))

    def size(self, position: int) -> float:
        """Of a character, in points to a half; 0 where PDFium cannot say."""
        index = self.index(position)
        if index < 0 or not pdfium.FPDFText_GetMatrix(self.handle, index, _MATRIX):
            return 0.0
        size = pdfium.FPDFText_GetFontSize(self.handle, index) * math.hypot(_MATRIX.c, _MATRIX.d)
        return round(2 * float(size)) / 2

    def box(self, position: int) -> Box | None:
        index = position if self.units is None and self.is_plain else self.index(position)
        if index < 0 or not pdfium.FPDFText_GetLooseCharBox(self.handle, index, _RECTANGLE):
            return None
        found = _RECTANGLE
        return self.frame.box(found.left, found.bottom, found.right, found.top)


def read_page(
    page: pypdfium2.PdfPage,
    settings: ExtractSettings,
    form: pypdfium2.PdfFormEnv | None,
    layers_off: frozenset[str] = frozenset(),
) -> PageLines | None:
    """The lines of a page in reading order; None where PDFium loses text, as it does of vertical writing."""
    text_page = page.get_textpage()
    try:
        frame = Frame.of(page, _rotation(text_page))
        objects = page_objects(page, frame, with_edges=settings.pdf_tables, layers_off=layers_off)
        if objects.lost > _LOST_SHARE * objects.texts:
            return None
        text = _text(text_page, frame)
        hidden, warnings = _hidden(text, objects, settings)
        tables, holders = _tables(text, objects, hidden)
        lines = _in_order(text, tables, holders, hidden, objects)
        unmapped = _unmapped(text)
        if nuls := text.text.count("\0"):
            warnings += (f"{NUL}={nuls}",)
    finally:
        text_page.close()
    if values := list(_values(page, form, frame)):
        lines = with_values(lines, values)
    return PageLines(tuple(lines), frame.shown_size[1], unmapped, warnings)


def _rotation(page: pypdfium2.PdfTextPage) -> int:
    """By how much a page is to be turned clockwise for most of its text to be upright.

    The page's own rotation does not tell: there are pages that are turned so that their tables lie.
    """
    count = page.count_chars()
    turns: Counter[int] = Counter()
    for index in range(0, count, max(1, count // _SAMPLES)):
        matrix = pdfium.FS_MATRIX()
        if pdfium.FPDFText_GetMatrix(page, index, matrix) and (matrix.a or matrix.b):
            turns[round(math.degrees(math.atan2(matrix.b, matrix.a)) / 90) % 4 * 90] += 1
    return turns.most_common(1)[0][0] if turns else 0


def _text(page: pypdfium2.PdfTextPage, frame: Frame) -> _Text:
    text = page.get_text_range(errors="surrogatepass")
    units = None
    if not text.isascii() and max(text) > "\uffff":
        units = [0, *accumulate(1 + (character > "\uffff") for character in text)]
    length = len(text) if units is None else units[-1]
    found = _Text(page, page.raw, frame, text, units, length == page.count_chars())
    found.text = _with_nuls(found)
    found.text = _with_ligatures_in_order(found)
    return found


def _with_nuls(text: _Text) -> str:
    """PDFium has one sign for a hyphen at a line's end and for what the font's map sends to U+0000."""
    places = [found.start() for found in re.finditer(HYPHEN_AT_LINE_END, text.text)]
    nuls = [at for at in places if pdfium.FPDFText_GetUnicode(text.page, text.index(at)) == 0]
    if not nuls:
        return text.text
    characters = list(text.text)
    for at in nuls:
        characters[at] = "\0"
    return "".join(characters)


def _with_ligatures_in_order(text: _Text) -> str:
    """PDFium turns what is written from right to left around letter by letter, also letters that are one sign.

    Lam and alef nearly always are one, so words with them would have the two the wrong way round.
    """
    if not _RIGHT_TO_LEFT.search(text.text):
        return text.text
    characters = list(text.text)
    for found in _ARABIC_LETTERS.finditer(text.text):
        for box, places in groupby(range(*found.span()), text.box):
            first, *rest = places
            if box is not None and rest:
                last = rest[-1] + 1
                characters[first:last] = reversed(characters[first:last])
    return "".join(characters)


def _in_order(
    text: _Text,
    tables: Sequence[Written],
    holders: Mapping[int, int],
    hidden: Sequence[bool] | None,
    objects: ObjectFacts,
) -> list[Line]:
    lines = _lines(text, tables, holders, hidden)
    frame = text.frame
    if frame.rotation == 0:
        spans = [(left - frame.left, right - frame.left) for left, right in objects.spans]
        found = gutters(spans, frame.width)
        # Where there are several, all of them part columns, or else the widest alone.
        for gaps in (found, found[:1]) if len(found) > 1 else (found,):
            if gaps and may_be_mixed(lines, gaps):
                parted = _lines(text, tables, holders, hidden, gaps)
                if is_prose(parted, gaps):
                    return by_columns(parted, gaps)
    # PDFium orders the lines of a page that is shown turned as they lie then.
    return downwards(lines, least=1) if text.page.page.get_rotation() else downwards(lines)


def _lines(
    text: _Text,
    tables: Sequence[Written],
    holders: Mapping[int, int],
    hidden: Sequence[bool] | None,
    gaps: Sequence[Gutter] = (),
) -> list[Line]:
    """Lines of the page, cut at gutters; a table stands where its first character was."""
    pieces: list[Piece] = []
    written: set[int] = set()
    for found in _LINE.finditer(text.text):
        for start, end, table in _runs(text.text, *found.span(), holders, hidden):
            if table is None:
                parts = _parted(text, start, end, gaps) if gaps else [(start, end)]
                pieces += (Piece(line, *part) for part in parts if (line := _line(text, *part)))
            elif table not in written:
                written.add(table)
                (x0, top, x1, bottom), rows = tables[table]
                pieces.append(Piece(Line(rows, x0, top, x1, bottom, is_table=True), start, end))
    return with_scripts(pieces, text)


def _parted(text: _Text, start: int, end: int, gaps: Sequence[Gutter]) -> Iterator[tuple[int, int]]:
    """The parts of a span on either side of gutters."""
    column = None
    for position in range(start, end):
        box = None if text.text[position].isspace() else text.box(position)
        if box is None:
            continue
        if any(box[2] > gap[0] + 1 and box[0] < gap[1] - 1 for gap in gaps):
            # It stands in a gutter: the line goes over it, as that of a title does.
            column = None
            continue
        own = sum(box[0] >= gap[1] - 1 for gap in gaps)
        if column is not None and own != column:
            yield start, position
            start = position
        column = own
    yield start, end


def _runs(
    text: str, start: int, end: int, holders: Mapping[int, int], hidden: Sequence[bool] | None
) -> Iterator[tuple[int, int, int | None]]:
    """The parts of a line outside tables, and the tables that it enters; hidden characters are left out."""
    if not holders and hidden is None:
        yield start, end, None
        return
    run, table = start, None
    for position in range(start, end):
        if text[position].isspace():
            continue
        inside = -1 if hidden is not None and hidden[position] else holders.get(position)
        if inside != table:
            if position > run and table != -1:
                yield run, position, table
            run, table = position, inside
    if table != -1:
        yield run, end, table


def _line(text: _Text, start: int, end: int) -> Line | None:
    own = text.text[start:end]
    ink = own.strip()
    if not ink.strip(HYPHEN_AT_LINE_END):
        return None
    first = start + len(own) - len(own.lstrip())
    last = first + len(ink) - 1
    boxes = [box for at in {first, last} if (box := text.box(at)) is not None]
    if not boxes:
        boxes = [(0.0, 0.0, 0.0, 0.0)]
    x0s, tops, x1s, bottoms = zip(*boxes, strict=True)
    # Spaces that PDFium made up have a size of their own.
    middle = next(at for at in range((first + last) // 2, last + 1) if not text.text[at].isspace())
    own = settled(with_numbers_apart(text, start, end))
    clean = own.rstrip() if own.isascii() and "\0" not in own else _clean(own)
    size = text.size(middle)
    mark = _MARK.match(clean)
    if mark and 0 < text.size(first) < _MARK_SIZE * size:
        clean = f"{mark[0]} {clean[mark.end() :]}"
    return Line(clean, min(x0s), min(tops), max(x1s), max(bottoms), size=size)


def _clean(text: str) -> str:
    """A line's text in canonical form, a sign of a font of symbols before it a bullet."""
    text = _SYMBOL.sub("\\1\u2022", readable(canonical_text(text))).rstrip()
    return unmirrored(in_words(text)) if _RIGHT_TO_LEFT.search(text) else text


def _tables(
    text: _Text, objects: ObjectFacts, hidden: Sequence[bool] | None
) -> tuple[list[Written], dict[int, int]]:
    tables = ruled_tables(objects.edges, *text.frame.shown_size) if objects.may_have_tables else []
    return written_tables(tables, _characters(text, tables, hidden)) if tables else ([], {})


def _characters(
    text: _Text, tables: Sequence[Table], hidden: Sequence[bool] | None
) -> dict[int, tuple[str, Box]]:
    """The characters of the lines that reach into a table's height, by their position."""
    spans = [(table.bbox[1], table.bbox[3]) for table in tables]
    characters: dict[int, tuple[str, Box]] = {}
    for found in _LINE.finditer(text.text):
        start, end = found.span()
        ends = [box for at in (start, (start + end) // 2, end - 1) if (box := text.box(at)) is not None]
        if ends and not any(
            bottom >= min(box[1] for box in ends) and top <= max(box[3] for box in ends)
            for top, bottom in spans
        ):
            continue
        for position in range(start, end):
            box = text.box(position)
            # Spaces that PDFium made up have no extent; the gaps are seen without them.
            if box is not None and box[2] > box[0] and not (hidden is not None and hidden[position]):
                character = text.text[position]
                if not character.isascii():
                    character = readable(canonical_text(character.replace(HYPHEN_AT_LINE_END, "-")))
                characters[position] = (character, box)
    return characters


def _hidden(
    text: _Text, objects: ObjectFacts, settings: ExtractSettings
) -> tuple[list[bool] | None, tuple[str, ...]]:
    """Which characters no reader sees and are to be left out: invisible ones, those on layers that are
    switched off, and those beside the page.

    A layer of invisible text over a picture is what OCR makes, and a page of nothing else says nothing
    visibly: both are kept. Invisible text beside visible text is for machines only.
    """
    if settings.hidden_text == "keep":
        return None, ()
    hidden = [False] * len(text.text)
    warnings: tuple[str, ...] = ()
    if (
        objects.invisible
        and not objects.is_picture
        and _mark_all(text, partial(_mark_objects, is_unseen=_is_invisible), hidden)
    ):
        warnings += (INVISIBLE,)
    if off := objects.switched_off:
        mark = partial(_mark_objects, is_unseen=lambda handle: address(handle) in off)
        warnings += (OFF_LAYER,) * _mark_all(text, mark, hidden)
    if objects.outside and _mark_all(text, _mark_outside, hidden):
        warnings += (OFF_PAGE,)
    return (hidden, warnings) if warnings else (None, ())


def _mark_all(text: _Text, mark: Callable[[_Text, int, int, list[bool]], None], hidden: list[bool]) -> bool:
    """Whether some of the text that is not hidden yet is hidden now; all of it is never."""
    found = [False] * len(hidden)
    for line in _LINE.finditer(text.text):
        mark(text, *line.span(), found)
    ink = [
        place for place, character in enumerate(text.text) if not character.isspace() and not hidden[place]
    ]
    more = [place for place in ink if found[place]]
    if len(more) == len(ink):
        return False
    for place in more:
        hidden[place] = True
    return bool(more)


def _mark_outside(text: _Text, start: int, end: int, hidden: list[bool]) -> None:
    """Mark the characters of a span that stand beside the page as it is shown."""
    width, height = text.frame.shown_size
    for position in range(start, end):
        box = text.box(position)
        if box is not None:
            hidden[position] = box[2] <= 0 or box[3] <= 0 or box[0] >= width or box[1] >= height


def _mark_objects(
    text: _Text, start: int, end: int, hidden: list[bool], is_unseen: Callable[[object], bool]
) -> None:
    """Mark the characters of unseen objects: one object's text follows on, so a span's ends tell of all of it."""
    first, last = _object_at(text, start), _object_at(text, end - 1)
    if end - start > 2 and (first is None or last is None or address(first) != address(last)):
        middle = (start + end) // 2
        _mark_objects(text, start, middle, hidden, is_unseen)
        _mark_objects(text, middle, end, hidden, is_unseen)
        return
    for position, found in ((start, first), (end - 1, last)):
        hidden[position] = found is not None and is_unseen(found)
    if end - start > 2:
        hidden[start:end] = [hidden[start]] * (end - start)


def _object_at(text: _Text, position: int) -> object | None:
    """The object of a character; None for what PDFium made up."""
    index = text.index(position)
    return (pdfium.FPDFText_GetTextObject(text.page, index) or None) if index >= 0 else None


def _is_invisible(handle: object) -> bool:
    return bool(pdfium.FPDFTextObj_GetTextRenderMode(handle) == _INVISIBLE_MODE)


def _unmapped(text: _Text) -> float:
    """The share of characters without a meaning, by a sample of a few on some of the lines."""
    errors = asked = 0
    spans = [found.span() for found in _LINE.finditer(text.text)]
    for start, end in spans[:: len(spans) // _SAMPLES + 1]:
        for position in {start, (start + end) // 2, end - 1}:
            index = text.index(position)
            if index >= 0 and not text.text[position].isspace():
                asked += 1
                errors += pdfium.FPDFText_HasUnicodeMapError(text.page, index) == 1
    return errors / asked if asked else 0.0


@dataclass(frozen=True, slots=True)
class FieldValue:
    """What is filled into a field of a form, where, and the field's name."""

    text: str
    name: str
    box: Box


def with_values(lines: Sequence[Line], values: Sequence[FieldValue]) -> list[Line]:
    """The lines with the values beside them; a value without a line at its height follows with its name."""
    found = list(lines)
    for value in values:
        x0, top, x1, bottom = value.box
        beside = [
            (abs((line.top + line.bottom) - (top + bottom)), place)
            for place, line in enumerate(found)
            if not line.is_table
            and min(line.bottom, bottom) - max(line.top, top)
            > 0.5 * min(line.bottom - line.top, bottom - top)
        ]
        if beside:
            _, place = min(beside)
            line = found[place]
            text = f"{value.text} {line.text}" if x1 <= line.x0 + 1 else f"{line.text} {value.text}"
            found[place] = replace(line, text=text, x0=min(line.x0, x0), x1=max(line.x1, x1))
        else:
            above = [place for place, line in enumerate(found) if line.top < top]
            named = f"{value.name}: {value.text}" if value.name else value.text
            found.insert(max(above, default=-1) + 1, Line(named, x0, top, x1, bottom))
    return found


def _values(
    page: pypdfium2.PdfPage, form: pypdfium2.PdfFormEnv | None, frame: Frame
) -> Iterator[FieldValue]:
    """What is filled into the fields of a page, and what was typed on it beside any field."""
    for number in range(pdfium.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium.FPDFPage_GetAnnot(page, number)
        if not annotation:
            continue
        try:
            name, value = _said(annotation, form)
            rectangle = pdfium.FS_RECTF()
            if value and pdfium.FPDFAnnot_GetRect(annotation, rectangle):
                box = frame.box(rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)
                yield FieldValue(value, name, box)
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)


def _said(annotation: object, form: pypdfium2.PdfFormEnv | None) -> tuple[str, str]:
    """The name and the text of an annotation that is part of the page: a field's, or one's that was typed on it."""
    kind = pdfium.FPDFAnnot_GetSubtype(annotation)
    if kind == pdfium.FPDF_ANNOT_FREETEXT and not pdfium.FPDFAnnot_GetFlags(annotation) & _UNSEEN:
        return "", _string(pdfium.FPDFAnnot_GetStringValue, annotation, b"Contents")
    if kind != pdfium.FPDF_ANNOT_WIDGET or form is None:
        return "", ""
    value = _value(form, annotation)
    return _string(pdfium.FPDFAnnot_GetFormFieldName, form, annotation) if value else "", value


def _value(form: pypdfium2.PdfFormEnv, annotation: object) -> str:
    """A field's value as text; a box or button as ``[x]`` or ``[ ]``; empty for what holds no value."""
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
    if kind in (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON):
        return "[x]" if pdfium.FPDFAnnot_IsChecked(form, annotation) else "[ ]"
    if kind in (
        pdfium.FPDF_FORMFIELD_TEXTFIELD,
        pdfium.FPDF_FORMFIELD_COMBOBOX,
        pdfium.FPDF_FORMFIELD_LISTBOX,
    ):
        return _string(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation)
    return ""


def _string(function: object, *of: object) -> str:
    buffer = ctypes.create_string_buffer(_FORM_BUFFER)
    as_units = ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR))
    size = min(function(*of, as_units, _FORM_BUFFER), _FORM_BUFFER)  # type: ignore[operator]
    text = buffer.raw[: max(size - 2, 0)].decode("utf-16-le", "surrogatepass")
    return " ".join(canonical_text(text).split())

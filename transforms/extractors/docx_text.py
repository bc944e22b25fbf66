"""Decides what of a Word paragraph's runs is text: the final state of tracked changes, results of fields.

Deleted text and field codes are out; inserted text, results, the linear reading of formulas and the marks
of footnotes are in. Text boxes are handed back apart, each once, since they are blocks of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from transforms.extractors.docx_styles import VAL, Styles, W, is_on
from transforms.extractors.docx_symbols import symbol
from transforms.extractors.formula import formula_text
from transforms.extractors.safe_xml import Element, local_name
from transforms.extractors.scripts import lowered, raised, settled

_PLAIN = {
    "tab": "\t",
    "ptab": "\t",
    "cr": "\n",
    "noBreakHyphen": "-",
}
_GONE = frozenset(
    {"del", "moveFrom", "pPr", "rPr", "instrText", "delText", "delInstrText", "sdtPr", "sdtEndPr", "rt"}
)
"""``rt`` is the reading above East Asian characters, which repeats them."""
_SCRIPTS = {"superscript": raised, "subscript": lowered}
_DRAWINGS = frozenset({"drawing", "pict", "object", "AlternateContent"})


class RunReader:
    """Reads paragraphs one after the other: fields may begin in one and end in another."""

    def __init__(self, styles: Styles, roots: Iterable[Element], *, keep_hidden: bool) -> None:
        self._styles = styles
        self._keep_hidden = keep_hidden
        self._endless = {mark for root in roots for mark in _endless_fields(root)}
        self._fields: list[bool] = []
        """Of each open field whether its result has begun."""
        self._boxes: list[Element] = []
        self._drawings: list[Element] = []
        self.notes: list[tuple[str, str]] = []
        """Kind and id of each footnote and endnote, in the order in which the text points at them."""

    def paragraph(self, paragraph: Element, *, hidden: bool) -> str:
        """A paragraph's text; ``hidden`` is what its style says of runs that do not say it themselves."""
        return settled("".join(self._inline(paragraph, hidden=hidden)))

    def take_boxes(self) -> list[Element]:
        """The contents of text boxes met since the last call."""
        boxes, self._boxes = self._boxes, []
        return boxes

    def take_drawings(self) -> list[Element]:
        """The drawings met since the last call, those with text boxes too."""
        drawings, self._drawings = self._drawings, []
        return drawings

    def _inline(self, parent: Element, *, hidden: bool) -> Iterator[str]:
        for child in parent:
            name = local_name(child)
            if name in _GONE:
                continue
            if child.tag == f"{W}r":
                yield from self._run(child, hidden=hidden)
            elif name in ("oMath", "oMathPara"):
                yield formula_text(child)
            elif name in _DRAWINGS:
                self._boxes.extend(text_boxes(child))
                self._drawings.append(child)
            else:
                yield from self._inline(child, hidden=hidden)

    def _run(self, run: Element, *, hidden: bool) -> Iterator[str]:
        properties = run.find(f"{W}rPr")
        said = self._styles.hidden(properties)
        drop = (hidden if said is None else said) and not self._keep_hidden
        script = _SCRIPTS.get(self._styles.script(properties) or "", str)
        for child in run:
            if child.tag == f"{W}fldChar":
                yield self._field(child)
            elif not drop:
                yield script(self._piece(child))

    def _piece(self, piece: Element) -> str:
        name = local_name(piece)
        if name in _DRAWINGS:
            boxes = list(text_boxes(piece))
            self._boxes.extend(boxes)
            self._drawings.append(piece)
            return "" if boxes or name != "AlternateContent" else self._alternative(piece)
        if False in self._fields:
            return ""
        if name == "t":
            return piece.text or ""
        if name == "br":
            return "\n"
        if name == "sym":
            return symbol(piece.get(f"{W}font", ""), piece.get(f"{W}char", ""))
        if name in ("footnoteReference", "endnoteReference"):
            return self._note(name.removesuffix("Reference"), piece)
        if name == "ruby":
            return "".join(self._inline(piece, hidden=False))
        return _PLAIN.get(name, "")

    def _alternative(self, alternatives: Element) -> str:
        """Of characters in several forms, as Word has emoji, the first form that is text."""
        pieces = ([piece for piece in each if local_name(piece) not in _DRAWINGS] for each in alternatives)
        return next(filter(None, ("".join(map(self._piece, each)) for each in pieces)), "")

    def _note(self, kind: str, reference: Element) -> str:
        key = (kind, reference.get(f"{W}id", ""))
        if key not in self.notes:
            self.notes.append(key)
        return f"[^{self.notes.index(key) + 1}]"

    def _field(self, mark: Element) -> str:
        kind = mark.get(f"{W}fldCharType")
        if kind == "begin":
            if mark not in self._endless:
                self._fields.append(False)
            return _tick_box(mark) or _choice(mark)
        if kind == "separate" and self._fields:
            self._fields[-1] = True
        elif kind == "end" and self._fields:
            self._fields.pop()
        return ""


def _endless_fields(root: Element) -> list[Element]:
    """The beginnings of fields that never end, behind which all text would be a field's code."""
    open_fields: list[Element] = []
    for mark in root.iter(f"{W}fldChar"):
        kind = mark.get(f"{W}fldCharType")
        if kind == "begin":
            open_fields.append(mark)
        elif kind == "end" and open_fields:
            open_fields.pop()
    return open_fields


def text_boxes(drawing: Element) -> Iterator[Element]:
    """The contents of a drawing's text boxes, in its groups too; of alternatives the first that has any."""
    if local_name(drawing) == "AlternateContent":
        for alternative in drawing:
            boxes = [box for child in alternative for box in text_boxes(child)]
            if boxes:
                yield from boxes
                return
    elif drawing.tag == f"{W}txbxContent":
        yield drawing
    else:
        for child in drawing:
            yield from text_boxes(child)


def _choice(mark: Element) -> str:
    """What is chosen from the list of a form, if the field is one."""
    choices = mark.find(f"{W}ffData/{W}ddList")
    if choices is None:
        return ""
    entries = [entry.get(VAL, "") for entry in choices.iterfind(f"{W}listEntry")]
    states = (choices.find(f"{W}result"), choices.find(f"{W}default"))
    chosen = next((found.get(VAL, "") for found in states if found is not None), "0")
    return entries[int(chosen)] if chosen.isdecimal() and int(chosen) < len(entries) else ""


def _tick_box(mark: Element) -> str:
    """A ticked or empty box, if the field is one of a form."""
    box = mark.find(f"{W}ffData/{W}checkBox")
    if box is None:
        return ""
    states: Iterable[Element | None] = (box.find(f"{W}checked"), box.find(f"{W}default"))
    state = next((found for found in states if found is not None), None)
    return "\u2612" if state is not None and is_on(state.get(VAL)) else "\u2610"

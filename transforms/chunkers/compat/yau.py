"""The third system: sections by heading, procedures kept whole up to a ceiling, equipment by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from transforms.chunkers.compat.spans import Joined, Span, located, split_spans, universal_lines

UNTITLED = "(untitled)"
PAGE = 1
PROCEDURE = "procedure"

_HEADING = re.compile(r"#{1,6}\s+(?=\S)")
# White space between a line's start and its mark may be anything but LF: what stands behind an LF is the
# next line's. So every character is looked at once, where `\s*` would look again from each blank line.
_STEP = re.compile(r"^[^\S\n]*(?:\d+\.|\(\d+\)|step\s+\d+)", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class YauSettings:
    """Sizes in estimated tokens, and the type of the document.

    Raises:
        ValueError: a target under 1, with which the system never ended.
    """

    target: int = 800
    ceiling: int = 6000
    doc_type: str = ""

    def __post_init__(self) -> None:
        """Refuse a target that no piece of a word can meet."""
        if self.target < 1:
            raise ValueError(f"target must be at least 1, got {self.target}")


@dataclass(frozen=True, slots=True)
class Section:
    """The lines with ink under one heading; the heading itself is the title only."""

    title: str
    body: Joined
    span: Span | None


@dataclass(frozen=True, slots=True)
class YauChunk:
    """A chunk: ``text`` is stored, and equals the source at ``span`` but for white space."""

    text: str
    span: Span | None
    section: int | None = None
    """Place of its section; None where the text was handed over as one."""
    section_title: str | None = None

    @property
    def approx_tokens(self) -> int:
        """The system's own estimate of the text."""
        return estimate(len(self.text))


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a section's text; ``text`` differs from the slice in its line ends only."""

    start: int
    end: int
    text: str


def estimate(characters: int) -> int:
    """Four characters a token, rounded down."""
    return characters // 4


def chunk_sections(text: str, settings: YauSettings) -> list[YauChunk]:
    """Chunks of every section of a text, in order."""
    return [
        YauChunk(piece.text, _span(section.body, piece), place, section.title)
        for place, section in enumerate(split_sections(text))
        for piece in chunk_text(section.body.text, settings)
    ]


def chunk_raw(text: str, settings: YauSettings) -> list[YauChunk]:
    """Chunks of a text without sections, as it comes from a flat PDF."""
    body = Joined(text, [(0, len(text))], "")
    return [YauChunk(piece.text, _span(body, piece)) for piece in chunk_text(text, settings)]


def _span(body: Joined, piece: Piece) -> Span | None:
    if not piece.text.strip():
        return None
    return located(body.source, piece.text, *body.span(piece.start, piece.end))


def split_sections(text: str) -> list[Section]:
    """Sections by ``#`` headings, wherever they stand; blank lines and headings are in none of them."""
    sections = []
    title = UNTITLED
    lines: list[Span] = []
    for start, end in universal_lines(text):
        heading = _HEADING.match(text, start, end)
        if heading:
            sections += _section(text, title, lines)
            title, lines = text[heading.end() : end].strip(), []
        elif text[start:end].strip():
            lines.append((start, start + len(text[start:end].rstrip())))
    return sections + _section(text, title, lines)


def _section(text: str, title: str, lines: Sequence[Span]) -> list[Section]:
    if not lines:
        return []
    body = Joined(text, lines, "\n")
    return [Section(title, body, located(text, body.text, lines[0][0], lines[-1][1]))]


def has_step(text: str) -> bool:
    """Whether any line begins like a numbered step."""
    return _STEP.search(text) is not None


def linked_equipment(text: str, equipment_ids: Iterable[str]) -> str | None:
    """The one id of the list whose lower-case form is part of the text; None if several are, or none."""
    folded = text.lower()
    found = {name for name in equipment_ids if name.lower() in folded}
    return found.pop() if len(found) == 1 else None


def chunk_text(text: str, settings: YauSettings) -> list[Piece]:
    """Cut one section's text: whole if it may stay so, else by paragraphs, lines, words and characters."""
    size = estimate(len(text))
    whole = Piece(0, len(text), text)
    if size <= settings.target:
        return [whole]
    if settings.doc_type == PROCEDURE and has_step(text):
        return [whole] if size <= settings.ceiling else _pack_lines(text, (0, len(text)), settings.target)
    pieces: list[Piece] = []
    for start, end in _pack(split_spans(text, "\n\n", 0, len(text)), settings.target):
        if estimate(end - start) > settings.ceiling:
            pieces += _pack_lines(text, (start, end), settings.target)
        else:
            pieces.append(Piece(start, end, text[start:end]))
    return pieces


def _pack(parts: Iterable[Span], limit: int) -> list[Span]:
    """Put neighbours together while the whole stays within the limit; the first always enters."""
    packed: list[Span] = []
    for start, end in parts:
        if packed and estimate(end - packed[-1][0]) <= limit:
            packed[-1] = (packed[-1][0], end)
        else:
            packed.append((start, end))
    return packed


def _pack_lines(text: str, part: Span, limit: int) -> list[Piece]:
    """Pack lines up to the limit; a line over it is packed by words, apart from its neighbours."""
    pieces: list[Piece] = []
    running: list[Span] = []
    length = 0

    for start, end in universal_lines(text, *part) or [(part[0], part[0])]:
        size = end - start
        too_long = estimate(size) > limit
        if running and (too_long or estimate(length + 1 + size) > limit):
            pieces.append(_lines_piece(text, running))
            running = []
        if too_long:
            pieces += [Piece(a, b, text[a:b]) for a, b in _pack_words(text, (start, end), limit)]
        else:
            length = length + 1 + size if running else size
            running.append((start, end))
    return [*pieces, _lines_piece(text, running)] if running else pieces


def _lines_piece(text: str, lines: Sequence[Span]) -> Piece:
    return Piece(lines[0][0], lines[-1][1], "\n".join(text[start:end] for start, end in lines))


def _pack_words(text: str, line: Span, limit: int) -> list[Span]:
    """Pack the words between single spaces; one that is over the limit alone is cut by characters."""
    words = split_spans(text, " ", *line)
    return [cut for part in _pack(words, limit) for cut in _slices(part, limit)]


def _slices(part: Span, limit: int) -> list[Span]:
    start, end = part
    slices = []
    while estimate(end - start) > limit:
        slices.append((start, start + 4 * limit))
        start += 4 * limit
    return [*slices, (start, end)]

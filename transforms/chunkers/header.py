"""What the first page says of a document: number, revision, date, title, role. Proposals, for a person to confirm.

A value stands behind its label on the same line, in the next cell of a table, or in a column of values that
follows a column of as many labels. A labelled value goes before one that merely looks like it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from transforms.chunkers.dates import DATE, date_of
from transforms.model.document import BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import date

    from transforms.chunkers.settings import ChunkSettings, HeaderSettings
    from transforms.model.document import Document

_MARKS = re.compile(
    r"[*`]{1,3}(?=\S)|(?<=\S)[*`]{1,3}"
    # An underscore inside a word or a number of a document is part of it, as CommonMark has it.
    r"|(?<![^\W_])_{1,3}(?=\S)|(?<=\S)_{1,3}(?![^\W_])"
)
_NEAR = 40
"""Characters behind a date's label in which the date begins."""


@dataclass(frozen=True, slots=True)
class Header:
    """The fields, each None where nothing was found."""

    doc_number: str | None = None
    revision: str | None = None
    effective_date: date | None = None
    effective_date_raw: str | None = None
    """As written, also where it names no day."""
    title: str | None = None
    authorising_role: str | None = None


def header_of(document: Document, settings: ChunkSettings) -> Header:
    """The header of a document's first page, or of its first lines; empty where none is asked for."""
    if settings.header is None:
        return Header()
    chosen = settings.header
    lines = list(_lines(_first_page(document, chosen.window_chars)))
    values = _labelled(lines, chosen)
    day, raw = _effective_date(values["effective_date"], lines, chosen)
    headings = (block.title for block in document.blocks if block.kind is BlockKind.HEADING and block.title)
    return Header(
        doc_number=_matching(values["doc_number"], lines, chosen.doc_number.patterns),
        revision=_revision(values["revision"], lines, chosen),
        effective_date=day,
        effective_date_raw=raw,
        title=next((value for value in values["title"]), None) or next(headings, None),
        authorising_role=next(iter(values["authorising_role"]), None),
    )


def _first_page(document: Document, most: int) -> str:
    """Whole lines, so that no value is taken for complete that is not."""
    end = document.pages[0].end if document.pages else len(document.text)
    if end > most:
        newline = document.text.find("\n", most, end)
        end = newline if newline >= 0 else end
    return document.text[:end]


def _lines(text: str) -> Iterator[str]:
    """Lines with ink, without marks of emphasis; cells of a table row are parted by tabs."""
    for line in text.split("\n"):
        bare = line.strip().lstrip("#").strip()
        if bare.startswith("|"):
            bare = "\t".join(cell.strip() for cell in bare.strip("|").split("|"))
        if bare:
            yield _MARKS.sub("", bare)


def _labelled(lines: Sequence[str], settings: HeaderSettings) -> Mapping[str, list[str]]:
    """Values by field, in the order of the text."""
    labels = _labels(settings)
    values: dict[str, list[str]] = defaultdict(list)
    for line in lines:
        label, mark, value = _parted(line)
        field = labels.get(_plain(label))
        if mark and field and value:
            values[field].append(value)
    if settings.column_layout:
        for label, value in _columns(lines, labels):
            values[labels[_plain(label)]].append(value)
    return values


def _labels(settings: HeaderSettings) -> dict[str, str]:
    known = {}
    for field in ("doc_number", "revision", "effective_date", "title", "authorising_role"):
        for label in getattr(settings, field).labels:
            known[_plain(label)] = field
            if field == "effective_date":
                known[f"{_plain(label)} date"] = field
                known[f"{_plain(label)} on"] = field
    return known


def _parted(line: str) -> tuple[str, str, str]:
    """Label, separator and value of a line: parted by a colon, a tab, or two spaces."""
    found = re.match(r"([^:\t]{1,60}?)[ ]*(:|\t| {2})\s*(.*)", line)
    return (found[1], found[2], found[3].split("\t")[0].strip()) if found else (line, "", "")


def _plain(label: str) -> str:
    return " ".join(label.casefold().replace(".", " ").split())


def _columns(lines: Sequence[str], labels: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Labels that stand on lines of their own, each with its value as many lines below as there are labels."""
    place = 0
    while place < len(lines):
        after = place
        while after < len(lines) and _plain(lines[after].rstrip(":")) in labels:
            after += 1
        count = after - place
        if count > 1 and len(lines) >= after + count:
            yield from zip(
                (line.rstrip(":") for line in lines[place:after]), lines[after : after + count], strict=True
            )
        place = after + count if count > 1 else place + 1


def _matching(values: Iterable[str], lines: Iterable[str], patterns: Sequence[str]) -> str | None:
    """The first labelled value with a match of a pattern, else the first match anywhere."""
    either = re.compile("|".join(rf"(?<![\w-])(?:{pattern})(?![\w-])" for pattern in patterns) or r"(?!)")
    found = (either.search(text) for group in (values, lines) for text in group)
    return next((hit.group() for hit in found if hit), None)


def _revision(values: Iterable[str], lines: Iterable[str], settings: HeaderSettings) -> str | None:
    """A value with a digit or one capital, behind a whole label and a separator, on the same line."""
    names = "|".join(re.escape(label) for label in settings.revision.labels)
    value = "|".join(settings.revision.patterns)
    behind = rf"(?P<value>{value})(?![\w/-]|\.\w)"
    labelled = re.compile(rf"\b(?i:{names})\b[ \t.:]+(?i:(?:no|number)\b[ \t.:]*)?{behind}")
    alone = re.compile(behind)
    hits = [alone.match(text) or labelled.match(text) for text in values]
    hits += [labelled.search(line) for line in lines]
    return next((hit["value"] for hit in hits if hit), None)


def _effective_date(
    values: Sequence[str], lines: Iterable[str], settings: HeaderSettings
) -> tuple[date | None, str | None]:
    """The first date that names a day, and as it is written; else the first that looks like one."""
    names = "|".join(re.escape(label) for label in settings.effective_date.labels)
    label = re.compile(rf"\b(?:{names})\b", re.IGNORECASE)
    hits = [DATE.search(value) for value in values]
    for line in lines:
        hits += [DATE.search(line, found.end(), found.end() + _NEAR) for found in label.finditer(line)]
    dated = [hit for hit in hits if hit]
    for hit in dated:
        day = date_of(hit, day_first=settings.effective_date.day_first)
        if day is not None:
            return day, hit.group()
    return None, dated[0].group() if dated else None

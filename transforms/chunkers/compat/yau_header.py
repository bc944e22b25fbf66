"""What the third system read from a document's first page: number, revision, date, title, role."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime

WINDOW = 4000
"""Only so many characters of a document are looked at."""

DATE_FORMATS = ("%d/%m/%Y", "%d-%m-%Y", "%Y-%m-%d", "%d %B %Y", "%d %b %Y", "%d/%m/%y")

_DOC_NUMBER = re.compile(r"\bWRPS-[A-Z]{2,4}-\d{3,4}\b")
_REVISION = re.compile(r"\b(?i:revision|rev|issue)[\s.:]*([A-Za-z0-9]{1,4})\b")
_EFFECTIVE_DATE = re.compile(
    r"\b(?:effective|issued|approved)[\w\s]{0,12}?[:\s]\s*"
    r"(\d{1,2}[/-]\d{1,2}[/-]\d{2,4}|\d{4}-\d{2}-\d{2}|\d{1,2}\s+\w+\s+\d{4})\b",
    re.IGNORECASE,
)
_TITLE = re.compile(r"[ \t]*title(?P<separators>[ \t:]+)", re.IGNORECASE)
_ROLE = re.compile(
    r"[ \t]*authoris(?:ing|ed)[ \t]*(?:role|by)?[ \t]*:(?P<separators>[ \t]*)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class YauHeader:
    """The five fields, each the first hit or None."""

    doc_number: str | None
    revision: str | None
    effective_date: date | None
    title: str | None
    authorising_role: str | None


def read_header(text: str) -> YauHeader:
    """Read the fields from the first 4,000 characters."""
    head = text[:WINDOW]
    number = _DOC_NUMBER.search(head)
    revision = _REVISION.search(head)
    dated = _EFFECTIVE_DATE.search(head)
    return YauHeader(
        doc_number=number.group() if number else None,
        revision=revision[1] if revision else None,
        effective_date=parse_date(dated[1]) if dated else None,
        title=_labelled(head, _TITLE, own=1),
        authorising_role=_labelled(head, _ROLE, own=0),
    )


def parse_date(text: str) -> date | None:
    """The date that the trimmed text is, in the first of the known formats that fits wholly."""
    for form in DATE_FORMATS:
        try:
            return datetime.strptime(text.strip(), form).date()
        except ValueError:
            continue
    return None


def _labelled(text: str, label: re.Pattern[str], own: int) -> str | None:
    """The value behind a label at a line's start, from the first line that has one.

    A value has at least two characters, the last one ink. Separators but the first ``own`` count as part
    of it where it would be too short without them, and are trimmed in the end. Line by line and without
    backtracking, so that a long run of separators costs no more than its length.
    """
    for line in text.split("\n"):
        hit = label.match(line)
        if not hit:
            continue
        value_end = len(line.rstrip(" \t"))
        first, last = hit.start("separators") + own, hit.end("separators")
        start = max(first, min(last, value_end - 2))
        if value_end - start >= 2 and not line[value_end - 1].isspace():
            return line[start:value_end].strip()
    return None

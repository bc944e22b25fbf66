"""What is made of the lines of a PDF's pages: text without page heads, with whole words, in paragraphs.

Nothing here knows what read the lines. Positions are points from the top left corner of a page as it is
shown.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import TypeVar

from transforms.extractors.hyphens import Vocabulary, joined

_Key = TypeVar("_Key", bound=Hashable)

HYPHEN_AT_LINE_END = "\ufffe"
"""What a reader puts in place of a hyphen that ends a line, where it takes the word to go on."""

_DIGITS = re.compile(r"\d+")
_BAR = re.compile(r" ?[|\u2022\u00b7] ?| [\u2013\u2014] ")
_NUMBER_BEHIND = re.compile(r"(?<![^\s|(\[])(?P<number>\d{1,5})(?: ?(?:/|of|von) ?\d{1,5})?\W*$", re.I)
_NUMBER_BEFORE = re.compile(r"^\W*(?P<number>\d{1,5})(?: ?(?:/|of|von) ?\d{1,5})?(?=[\s|]|$)", re.I)
_PAGE_NUMBER = re.compile(
    r"(?:page|seite|p\.)?\W*(?:\d{1,5}|[ivxlc]{1,8})(?:\W*(?:/|of|von)\W*\d{1,5})?\W*", re.I
)
_SUSPECT = re.compile("[\ufffd\ue000-\uf8ff\x01-\x08\x0e-\x1f]|\\(cid:\\d+\\)")

_HYPHENS = ("-", "\u2010")

_LARGER = 1.15
"""Times the usual size of letters: what is larger is a title and counts no pages."""
_ENDS = 2
"""Lines at each end of a page that may be a head or a foot."""
_PAGES_AT_LEAST = 3
_SAME_PLACE = 3.0
"""Points by which the place of a head differs from page to page at most."""
_PARAGRAPH_GAP = 1.35
"""Times the usual distance of two lines: from here on a new paragraph begins."""
_OTHER_SIZE = 1.3
"""Times the size of a line: from here on the next is no part of its paragraph."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text, or a whole table of pipe rows, and where it stands."""

    text: str
    x0: float
    top: float
    x1: float
    bottom: float
    is_table: bool = False
    size: float = 0.0
    """Of its letters, in points; 0 where it is not known, as of pictures and of columns."""


@dataclass(frozen=True, slots=True)
class PageLines:
    """The lines of a page in reading order."""

    lines: tuple[Line, ...]
    height: float
    unmapped: float = 0.0
    """Share of its characters for which the font does not say what they are."""
    warnings: tuple[str, ...] = ()


def is_suspect(page: PageLines) -> bool:
    """Whether a page's text is garbage: most characters have no meaning, or the font gives them none."""
    text = "".join(line.text for line in page.lines)
    garbage = sum(len(found.group()) for found in _SUSPECT.finditer(text))
    ink = len(text) - sum(map(str.isspace, text))
    return ink > 0 and (page.unmapped > 0.5 or garbage > 0.3 * ink)


def without_furniture(pages: Sequence[PageLines]) -> tuple[list[PageLines], list[str]]:
    """The pages without running heads, feet and page numbers; and the wordings of those, page numbers as ``#``.

    A line at the end of a page is one of them where the same words stand at the same height of at least three
    pages and of a third of all, or the same words with a number at one end that counts the pages. A line that is
    set off from the text, at a height where most pages have such a line, is one already where another page says
    the same, as a head that names the chapter, where one side of a bar in it is on many pages, numbers aside, or where
    it is nothing but a number. What is said once stays: it is a title, a footnote or a name.
    """
    if len(pages) < _PAGES_AT_LEAST:
        return list(pages), []
    ends = [_ends(page) for page in pages]
    words = Counter(key for page in ends for key in {_wording(line) for line, _ in page})
    places = Counter(key for page in ends for key in {_place(line) for line, apart in page if apart})
    sides = Counter(key for page in ends for key in {key for line, _ in page for key in _sides(line)})
    counting = _counting([[line for line, _ in page] for page in ends])
    needed = max(_PAGES_AT_LEAST, len(pages) // 3)
    most = max(_PAGES_AT_LEAST + 1, 0.6 * len(pages))
    largest = _LARGER * _usual_size(pages)
    found: dict[str, None] = {}
    kept = []
    for number, (page, candidates) in enumerate(zip(pages, ends, strict=True)):
        gone = set()
        for line, apart in candidates:
            said = _near(words, _wording(line))
            key = _numbered(line, number)
            counts = line.size <= largest and key is not None and _near(counting, key) >= needed
            is_usual = apart and line.size <= largest and _near(places, _place(line)) >= most
            is_head = (
                said > 1
                or _is_page_number(line)
                or any(_near(sides, key) >= needed for key in _sides(line))
            )
            if said >= needed or counts or (is_usual and is_head):
                gone.add(id(line))
                found[key[0][0] if counts and key else line.text.strip()] = None
        kept.append(replace(page, lines=tuple(line for line in page.lines if id(line) not in gone)))
    return kept, list(found)


def page_texts(pages: Sequence[PageLines]) -> list[str]:
    """Each page's text: words that line ends break made whole, a blank line between paragraphs."""
    lines = [line.text for page in pages for line in page.lines]
    is_asked = any(line.endswith((HYPHEN_AT_LINE_END, *_HYPHENS)) for line in lines)
    vocabulary = Vocabulary.of(lines if is_asked else [])
    return ["".join(_paragraphs(page.lines, vocabulary)) for page in pages]


def _ends(page: PageLines) -> list[tuple[Line, bool]]:
    """The lines at the top and at the bottom, and whether each is set off from the text."""
    lines = sorted((line for line in page.lines if not line.is_table), key=lambda line: line.top)
    if len(lines) < _ENDS:
        return [(line, _is_page_number(line)) for line in lines]
    pitch = _pitch(lines)
    first, last = lines[:_ENDS], lines[-_ENDS:]
    heads = [(line, _off(line, lines, pitch)) for line in first if line.bottom < page.height * 0.2]
    feet = [(line, _off(line, lines, pitch)) for line in last if line.top > page.height * 0.8]
    return heads + [foot for foot in feet if foot not in heads]


def _off(line: Line, lines: list[Line], pitch: float) -> bool:
    """Whether no other line is near: nearer than one and a half line distances."""
    beside = 0.5 * (line.bottom - line.top)
    distances = [gap for other in lines if (gap := abs(other.top - line.top)) > beside]
    distance = min(distances, default=9 * pitch)
    return distance > 1.5 * pitch or _is_page_number(line)


def _wording(line: Line) -> tuple[str, int]:
    return " ".join(line.text.split()).lower(), round(line.top / _SAME_PLACE)


def _sides(line: Line) -> Iterator[tuple[str, int]]:
    """What stands beside the bars of a line, as in ``Chapter 4 | Name``, with ``#`` for numbers; and its place."""
    parts = _BAR.split(" ".join(line.text.split()).lower())
    for part in parts if len(parts) > 1 else ():
        yield _DIGITS.sub("#", part), round(line.top / _SAME_PLACE)


def _counting(ends: Sequence[Sequence[Line]]) -> Counter[tuple[tuple[str, int], int]]:
    """On how many pages a line stands whose number is as far from the page's."""
    keys = ({_numbered(line, number) for line in lines} for number, lines in enumerate(ends))
    return Counter(key for page in keys for key in page if key is not None)


def _numbered(line: Line, page: int) -> tuple[tuple[str, int], int] | None:
    """A line's words with ``#`` for a number at one end, and how far that is from the page's; and its place."""
    text = " ".join(line.text.split())
    found = _NUMBER_BEHIND.search(text) or _NUMBER_BEFORE.search(text)
    if found is None:
        return None
    first, last = found.span("number")
    words = f"{text[:first]}#{text[last:]}"
    return (words, int(found["number"]) - page), round(line.top / _SAME_PLACE)


def _is_page_number(line: Line) -> bool:
    return _PAGE_NUMBER.fullmatch(line.text.strip()) is not None


def _usual_size(pages: Sequence[PageLines]) -> float:
    """Of the letters of the pages' lines, in points; without end where it is not known."""
    sizes = [line.size for page in pages for line in page.lines if line.size]
    return median(sizes) if sizes else math.inf


def _place(line: Line) -> tuple[str, int]:
    return "", round(line.top / _SAME_PLACE)


def _near(counts: Counter[tuple[_Key, int]], key: tuple[_Key, int]) -> int:
    words, place = key
    return sum(counts[(words, other)] for other in (place - 1, place, place + 1))


def _pitch(lines: Sequence[Line]) -> float:
    """The usual distance of two lines."""
    distances = [
        below.top - above.top for above, below in pairwise(lines) if 2 < below.top - above.top < 60
    ]
    return median(distances) if distances else 12.0


def _paragraphs(lines: Sequence[Line], vocabulary: Vocabulary) -> Iterator[str]:
    pitch = _pitch([line for line in lines if not line.is_table])
    previous: Line | None = None
    text = ""
    for line in lines:
        own = line.text.rstrip() if not line.is_table else line.text
        if previous is not None:
            if _goes_on(text, own) and not (text[-1] == "-" and _breaks(previous, line, pitch)):
                text, joint = joined(text[:-1], own, vocabulary)
            else:
                joint = "\n\n" if _breaks(previous, line, pitch) else "\n"
            yield text + joint
        text, previous = own, line
    yield text.replace(HYPHEN_AT_LINE_END, "-")


def _breaks(above: Line, below: Line, pitch: float) -> bool:
    """Whether a paragraph ends between two lines: by a table, another size, or more space than between lines.

    Going up the page, as into the next column, says nothing of paragraphs.
    """
    if above.is_table or below.is_table or _differ(above, below):
        return True
    return below.top - above.top > _PARAGRAPH_GAP * max(pitch, (below.bottom - below.top))


def _differ(above: Line, below: Line) -> bool:
    """Whether two lines are set in sizes that differ as those of a heading and of text do."""
    smaller, larger = sorted((above.size, below.size))
    return smaller > 0 and larger > _OTHER_SIZE * smaller


def _goes_on(text: str, below: str) -> bool:
    """Whether a line ends in a hyphen that joins it to the next; readers do not mark those after digits."""
    if text.endswith(HYPHEN_AT_LINE_END):
        return True
    return text[-1:] in _HYPHENS and text[-2:-1].isdigit() and below[:1].isalnum()

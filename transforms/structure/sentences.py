"""Where sentences, lines and graphemes end.

Sentences: after ``. ! ? …`` and closing marks before white space, after full-width stops at once, and at
blank lines. Not after abbreviations, single letters, and numbers that count list items; a lower-case word
behind a full stop, or behind a stop in quotes, continues the sentence. Thai has no stops: its sentences and
clauses end at spaces.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Language: TypeAlias = Literal["en", "de", "fr", "es", "it", "pt", "ru", "zh", "ja", "ko", "ar", "hi", "th"]
LANGUAGES: tuple[Language, ...] = get_args(Language)

# A run of stops is looked at once, from its beginning, and never given back: else a million dots take hours.
_MARKS = ".!?…؟۔।॥"
_CLOSERS = r"(?:[\"'”’“‘»«›‹)\]*_¹²³⁰-⁹]|\[\^?\w{1,4}\])"
"""Quotes, brackets, marks of emphasis, and notes by number. Whichever way quotes point: none opens behind a stop."""
_STOP = (
    rf"(?<![{_MARKS}])(?P<mark>[{_MARKS}]++)(?P<closers>{_CLOSERS}*+(?:[ \u00a0\u202f]»)?+)\s+"
    r"|[。！？．｡]++[」』）”’]*+\s*"
)
_BLANK_LINE = r"|\n[^\S\n]*\n\s*"
_THAI_SPACE = r"|(?<=[\u0e01-\u0e45\u0e47-\u0e5b])[ ]++(?=[\u0e01-\u0e2e\u0e30-\u0e45\u0e47-\u0e5b])"
# The vowel signs of Devanagari are no letters to `\w`.
_BEFORE = re.compile(r"([\w\u0900-\u0963]+(?:\.[\w\u0900-\u0963]+)*)\Z")
_GERMAN_MONTH = re.compile(r"\s(?:Jan|Feb|März|Mrz|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)[a-zä]*\b")
_GERMAN_ARTICLE = re.compile(r"\b(?:im|der|des|dem|den|das|die|zur|beim)\s\Z", re.IGNORECASE)
_LONGEST_ARTICLE = 6
_MONTHS = "jan feb mar apr jun jul aug sep sept oct okt nov dec dez"
_ABBREVIATIONS: dict[Language, str] = {
    "en": f"dr mr mrs ms prof st sr jr vs etc e.g i.e cf al fig figs no nos vol pp p ed eds inc ltd co dept approx"
    f" art max min ex par eq eqs sec secs gov sen rep gen capt lt sgt maj rev hon {_MONTHS}",
    "de": f"dr prof st nr abs art bzw ca d.h evtl ggf s str tel u.a usw vgl z.b bspw inkl max min mind co abb kap"
    f" bd hr hrn fr geb {_MONTHS}",
    "fr": "m mm mme mlle dr prof st ste av p pp ex cf etc art chap fig n no env janv févr avr juil sept oct nov déc",
    "es": "sr sra srta dr dra prof ud uds pág págs núm cap art p.ej ej etc avda tel ing aprox ee.uu",
    "it": "sig sig.ra dott dott.ssa prof ing avv pag art cap fig es ecc tel n",
    "pt": "sr sra dr dra prof pág núm cap art ex etc av tel eng aprox",
    "ru": "т.е т.д т.п т.к г гг ул стр рис см им др пр руб тыс млн млрд табл гл",
    "hi": "डॉ श्री प्रो पं",
    "zh": "", "ja": "", "ko": "", "ar": "", "th": "",
}  # fmt: skip
# Of white space, all but the no-break ones: U+00A0, U+2007 and U+202F hold their neighbours together.
BREAKING_SPACE = r"\t-\r\x1c-\x20\x85\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000"
_NEXT_INK = re.compile(r"\s{0,80}+(\S)")
LONGEST_GRAPHEME = 32
"""Code points. Unicode's stream-safe format allows 31 (UAX #15); what is longer is no text that anyone reads,
and one of a million marks must not pass any bound."""
_LONGEST_WORD_BEFORE_STOP = 24
_DEEPEST_LIST_ITEM = 40


@dataclass(frozen=True, slots=True)
class SentenceRules:
    """What ends a sentence."""

    stop: re.Pattern[str]
    """What may: stops with the white space behind them, blank lines."""
    abbreviations: frozenset[str]
    """Words in lower case behind which a full stop ends none."""
    german: bool
    """A full stop behind the number of a day, before a month, ends none, nor one behind an ordinal with its article."""


@lru_cache(maxsize=64)
def sentence_rules(
    languages: Iterable[Language] = LANGUAGES,
    abbreviations: Iterable[str] = (),
    *,
    blank_line_ends: bool = True,
) -> SentenceRules:
    """The rules for texts in these languages, with more abbreviations, with or without their full stop."""
    known = " ".join(_ABBREVIATIONS[language] for language in languages).split()
    own = (abbreviation.casefold().removesuffix(".") for abbreviation in abbreviations)
    stop = _STOP + (_BLANK_LINE if blank_line_ends else "") + (_THAI_SPACE if "th" in languages else "")
    return SentenceRules(re.compile(stop), frozenset((*known, *own)), "de" in languages)


RULES = sentence_rules()
"""For all languages."""


def sentence_spans(
    text: str, start: int, end: int, rules: SentenceRules = RULES
) -> Iterator[tuple[int, int]]:
    """Spans that cover ``text[start:end]`` without a gap; white space goes with the sentence before it."""
    at = start
    for stop in rules.stop.finditer(text, start, end):
        if stop["mark"] and not _ends_sentence(text, at, stop, rules):
            continue
        yield at, stop.end()
        at = stop.end()
    if at < end:
        yield at, end


def sentence_ends(
    text: str, low: int, high: int, begin: int, rules: SentenceRules = RULES
) -> Iterator[int]:
    """Where the ink of each sentence ends that ends from ``low`` to ``high``; its block begins at ``begin``."""
    for stop in rules.stop.finditer(text, low, high + 1):
        end = stop.start() + len(stop.group().rstrip())
        if end <= high and not (stop["mark"] and not _ends_sentence(text, begin, stop, rules)):
            yield end


def _ends_sentence(text: str, at: int, stop: re.Match[str], rules: SentenceRules) -> bool:
    mark = stop["mark"]
    if mark.strip(".…") and not stop["closers"]:
        return True
    if mark == "." and _is_no_end(text, at, stop.start(), rules):
        return False
    follows = _NEXT_INK.match(text, stop.end())
    return not (follows and follows[1].islower())


def _is_no_end(text: str, at: int, position: int, rules: SentenceRules) -> bool:
    """Whether what stands before a full stop is an abbreviation, an initial or the number of an item."""
    before = _BEFORE.search(text, max(at, position - _LONGEST_WORD_BEFORE_STOP), position)
    word = before[1] if before else ""
    if word.casefold() in rules.abbreviations or (len(word) == 1 and word.isalpha()):
        return True
    if not word.isdigit():
        return False
    start = position - len(word)
    if rules.german and len(word) < 3 and _is_german_ordinal(text, at, start, position + 1):
        return True
    return _begins_line(text, at, start)


def _is_german_ordinal(text: str, at: int, start: int, end: int) -> bool:
    """Whether a number with its full stop is one: the day of a month, or one of a kind, as in `im 19. Jahrhundert`."""
    if _GERMAN_MONTH.match(text, end):
        return True
    follows = _NEXT_INK.match(text, end)
    has_noun = follows is not None and follows[1].isupper()
    return has_noun and _GERMAN_ARTICLE.search(text, max(at, start - _LONGEST_ARTICLE), start) is not None


def _begins_line(text: str, at: int, position: int) -> bool:
    first = max(at, position - _DEEPEST_LIST_ITEM)
    before = text[first:position].rpartition("\n")
    return not before[2].strip() and (bool(before[1]) or first == at)


def line_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Lines with their line break; they cover the span."""
    at = start
    while at < end:
        found = text.find("\n", at, end)
        stop = end if found < 0 else found + 1
        yield at, stop
        at = stop


def grapheme_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Extended grapheme clusters (UAX #29) of at most :data:`LONGEST_GRAPHEME`; they cover the span."""
    for found in regex.finditer(r"\X", text, pos=start, endpos=end):
        first, last = found.span()
        while last - first > LONGEST_GRAPHEME:
            yield first, first + LONGEST_GRAPHEME
            first += LONGEST_GRAPHEME
        yield first, last

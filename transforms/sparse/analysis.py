"""Which terms a text has: the same for a text that is stored and for a question, whose language nobody knows.

White space always parts words, so a text is the sequence of its white-space-free pieces, and the terms of a piece
follow from it alone. Within it, words are those of Unicode's segmentation (UAX 29). A name made of several
(``P-101``, ``max_pool_size``, ``v2.3.1``, ``camelCase``) is a term as a whole, and each of its parts is one too. Case
and accents are folded. Scripts that write no spaces give pairs of neighbouring characters.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import regex
import Stemmer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from transforms.sparse.settings import Language

VERSION = 1
"""Of the rules below: another number, and every table's sparse vectors are computed anew."""

SIGNS_AROUND = "()[]{}<>,.;:!?\"'`*|=~/\\-–—“”„‘«»…"
"""Signs that may be taken from both ends of a piece: its terms stay the same."""
_SIGNS = str.maketrans({"’": "'", "‐": "-", "‑": "-", "\u00ad": None})
"""Signs with two shapes, and the hyphen that shows only where a line ends."""
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー"
_NAME = regex.compile(
    rf"[{_UNSPACED}\p{{M}}]*[{_UNSPACED}][{_UNSPACED}\p{{M}}]*"
    # Words as UAX 29 has them, joined by single signs; C++ and C# end in theirs.
    rf"|\b\w[^{_UNSPACED}]*?\b(?:[-.@&+#']\w[^{_UNSPACED}]*?\b)*(?:\+\+|\#(?!\w))?",
    regex.V1 | regex.WORD,
)
_IS_UNSPACED = regex.compile(rf"[{_UNSPACED}]")
_POSSESSIVE = regex.compile(r"'[sS]$")
_CLITIC = regex.compile(r"'\p{L}{1,2}$")
"""What is no word of its own behind an apostrophe: of ``we'll``, not of ``l'eau``."""
_BETWEEN_PARTS = regex.compile(r"[^\p{L}\p{N}\p{M}_.,]+|(?<!\p{N})[.,]+|[.,]+(?!\p{N})", regex.V1)
_WORDS_OF_PART = regex.compile(
    r"\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{Lt}\p{M}]+|\p{Lu}+|\p{N}+(?:[.,]\p{N}+)*", regex.V1
)
_ACRONYMS = regex.compile(r"(\p{Lu}{2,})s")
_MOST_PARTS = 16
"""Of a longer name, a checksum or a key, only the whole is a term."""

_ACCENTS = regex.compile(r"[\u0300-\u036F\u0591-\u05C7\u064B-\u0652\u0670\u0640]")
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"}
)

_SCRIPTS: dict[str, str] = {
    "arabic": "Arabic",
    "armenian": "Armenian",
    "greek": "Greek",
    "hindi": "Devanagari",
    "nepali": "Devanagari",
    "persian": "Arabic",
    "russian": "Cyrillic",
    "tamil": "Tamil",
}
"""Of the languages that are not written in Latin letters."""
_LATIN = "Latin"
_IN_SCRIPT = {
    name: regex.compile(rf"[\p{{{name}}}\p{{M}}]+") for name in (_LATIN, *sorted(set(_SCRIPTS.values())))
}


class Analyzer:
    """Finds the terms of white-space-free pieces of text.

    Args:
        languages: a word is stemmed for each of these that is written in its script.
        stop_words: words that are no terms, however they are written.
    """

    def __init__(self, languages: Sequence[Language], stop_words: Sequence[str]) -> None:
        scripts = {name: _SCRIPTS.get(name, _LATIN) for name in languages}
        # Words are remembered by whoever asks; a stemmer need not.
        self._stemmers: dict[str, list[Stemmer.Stemmer]] = {
            script: [Stemmer.Stemmer(name, 0) for name in languages if scripts[name] == script]
            for script in sorted(set(scripts.values()))
        }
        self._stop_words = frozenset(folded(word.casefold()) for word in stop_words)

    def terms(self, piece: str) -> Iterator[str]:
        """The terms of a piece of text, in order, each as often as it is there."""
        if piece.isascii() and piece.isalpha() and (piece.islower() or piece[1:].islower()):
            # Most pieces by far, and nothing below would make more of them.
            yield from self._terms_of(piece)
            return
        for name in _NAME.findall(unicodedata.normalize("NFKC", piece).translate(_SIGNS)):
            if _IS_UNSPACED.match(name):
                yield from _pairs(folded(name))
            else:
                yield from self._terms_of(_POSSESSIVE.sub("", name))

    def _terms_of(self, name: str) -> Iterator[str]:
        acronyms = _ACRONYMS.fullmatch(name)
        whole = (acronyms[1] if acronyms else name).casefold()
        if folded(whole) not in self._stop_words:
            yield from self._stems(whole)
            for part in [] if acronyms or (name.islower() and name.isalpha()) else parts_of(name):
                yield from self._stems(part.casefold())

    def _stems(self, word: str) -> Iterator[str]:
        """The word's stems, each once; itself, where it is no word of any of the languages."""
        stemmers = self._stemmers.get(script_of(word), ())
        yield from sorted({folded(stemmer.stemWord(word)) for stemmer in stemmers} or {folded(word)})


def script_of(word: str) -> str:
    """The script of all its letters, "" where there are signs, digits or several scripts."""
    letters = word.replace("'", "")
    if letters.isascii():
        return _LATIN if letters.isalpha() else ""
    return next((name for name, script in _IN_SCRIPT.items() if script.fullmatch(letters)), "")


def parts_of(name: str) -> list[str]:
    """The words and numbers that a name is made of, with what joins some of them by underscores; of a word none."""
    parts: list[str] = []
    for part in _BETWEEN_PARTS.split(_CLITIC.sub("", name)):
        words = _WORDS_OF_PART.findall(part)
        parts += [part, *words] if len(words) > 1 else words
    found = [part for part in parts if len(part) > 1 and part != name]
    return found if len(found) <= _MOST_PARTS else []


def folded(word: str) -> str:
    """The word without accents and vowel signs that may be left out; its case is that of ``str.casefold`` already."""
    if word.isascii():
        return word
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", word.translate(_LETTERS)))
    return unicodedata.normalize("NFKC", plain)


def _pairs(run: str) -> Iterator[str]:
    """Neighbouring characters, two by two; a character that stands alone as it is."""
    if len(run) == 1:
        yield run
    for place in range(len(run) - 1):
        yield run[place : place + 2]

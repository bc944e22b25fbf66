"""Which terms a text has: the same for a text that is stored and for a question, whose language nobody knows.

White space always parts words, so a text is the sequence of its pieces, and the terms of a piece follow from it alone.
Within it, words are those of Unicode's segmentation (UAX 29). A name made of several (``P-101``, ``max_pool_size``,
``v2.3.1``, ``camelCase``) is a term as a whole, and each of its parts is one too. Case and accents are folded. Scripts
that write no spaces give pairs of neighbouring characters.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

import regex
import Stemmer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from transforms.sparse.settings import Language

VERSION = 1
"""Of the rules below: another number, and every table's sparse vectors are computed anew."""

_PARTING = b'()[]{}<>"!?=*~/\\|^%$`'
_PARTED = bytes.maketrans(_PARTING, b" " * len(_PARTING))
"""Signs of ASCII that no name has. As spaces they leave fewer pieces that differ, of source code above all."""
_SIGNS_AROUND = "()[]{}<>,.;:!?\"'`*|=~/\\-–—“”„‘«»…"
"""Signs that are taken from both ends of a piece, where a mark on one of them would make a word of it."""
_DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_UNSEEN = f"\u00ad\u2060\ufeff{_DIRECTIONS}"
_SIGNS = str.maketrans({"’": "'", "‐": "-", "‑": "-"} | dict.fromkeys(_UNSEEN))
"""Signs with two shapes, and what is not seen: the hyphen of a line's end, joiners, directions around a name."""
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー"
_IS_UNSPACED = regex.compile(rf"[{_UNSPACED}]")
_NAME = regex.compile(
    rf"[{_UNSPACED}\p{{M}}]*[{_UNSPACED}][{_UNSPACED}\p{{M}}]*"
    # Words as UAX 29 has them, joined by single signs; C++ and C# end in theirs.
    rf"|\b\w[^{_UNSPACED}]*?\b(?:[-.@&+#']\w[^{_UNSPACED}]*?\b)*(?:\+\+|\#(?!\w))?",
    regex.V1 | regex.WORD,
)
_CLITIC = re.compile(r"'[^\W\d_]{1,2}$")
"""What is no word of its own behind an apostrophe: of ``we'll``, not of ``l'eau``."""
_PART = regex.compile(r"[\p{L}\p{N}\p{M}_]+(?:(?<=\p{N})[.,](?=\p{N})[\p{L}\p{N}\p{M}_]+)*", regex.V1)
_WORDS_OF_PART = regex.compile(
    r"\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{Lt}\p{M}]+|\p{Lu}+|\p{N}+(?:[.,]\p{N}+)*", regex.V1
)
# The same for ASCII alone, of which most texts are, by the engine that is several times as fast.
_ASCII_NAME = re.compile(
    r"\w+(?:[-.@&+#']\w+|(?<=[A-Za-z]):(?=[A-Za-z])\w+|(?<=\d)[,;](?=\d)\w+)*(?:\+\+|#(?!\w))?", re.ASCII
)
_ASCII_PART = re.compile(r"\w+(?:(?<=[0-9])[.,](?=[0-9])\w+)*", re.ASCII)
_WORDS_OF_ASCII_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+(?:[.,][0-9]+)*")
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
    """Finds the terms of pieces of text.

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
        for name in names_of(piece):
            for word in self.words_of(name):
                yield from self.stems(word)

    def words_of(self, name: str) -> list[str]:
        """What there is to be stemmed of a name, in order: the whole, and its parts."""
        name = _without_ending(name)
        whole = name.casefold()
        if not name.isascii() and _IS_UNSPACED.match(name):
            return _pairs(folded(whole))
        if self._stop_words and folded(whole) in self._stop_words:
            return []
        return [whole, *map(str.casefold, parts_of(name))]

    def stems(self, word: str) -> list[str]:
        """A word's stems, each once; itself, where it is no word of any of the languages."""
        stemmers = self._stemmers.get(script_of(word), ())
        stems = [folded(stemmer.stemWord(word)) for stemmer in stemmers] or [folded(word)]
        # Of accents without a letter nothing is left.
        return sorted({*stems} - {""}) if len(stems) > 1 or not stems[0] else stems


def pieces_of(text: str) -> list[str]:
    """What a text is the sequence of: the terms of each piece follow from it alone."""
    if text.isascii():
        text = text.encode("ascii").translate(_PARTED).decode("ascii")
    return text.split()


def is_word(piece: str) -> bool:
    """Whether a piece is one word of ASCII letters, and a term of no parts."""
    return (
        piece.isascii() and piece.isalpha() and (piece.islower() or piece[1:].islower() or piece.isupper())
    )


def names_of(piece: str) -> list[str]:
    """Words, and what is made of several, each joined to the next by one sign; runs of scripts without spaces."""
    if piece.isascii():
        return [piece] if is_word(piece) else _ASCII_NAME.findall(piece)
    bare = piece.strip(_SIGNS_AROUND)
    found: list[str] = _NAME.findall(unicodedata.normalize("NFKC", bare).translate(_SIGNS))
    return found


def parts_of(name: str) -> list[str]:
    """The words and numbers that a name is made of, with what joins some of them by underscores; of a word none."""
    if is_word(name):
        return []
    part_of, words_of = _PART, _WORDS_OF_PART
    if name.isascii():
        part_of, words_of = _ASCII_PART, _WORDS_OF_ASCII_PART
    parts: list[str] = []
    for part in part_of.findall(_CLITIC.sub("", name) if "'" in name else name):
        words = words_of.findall(part)
        if len(words) > 1:
            parts.append(part)
        parts += words
    found = [part for part in parts if len(part) > 1 and part != name]
    return found if len(found) <= _MOST_PARTS else []


def _without_ending(name: str) -> str:
    """The name without the ``'s`` of a possessive, and of several acronyms one: ``P-101's``, ``PDFs``."""
    if name[-1] not in "sS":
        return name
    if name[-2:-1] == "'":
        return name[:-2]
    several = len(name) > 2 and name[-1] == "s" and name[:-1].isalpha() and name[:-1].isupper()
    return name[:-1] if several else name


def script_of(word: str) -> str:
    """The script of all its letters, "" where there are signs, digits or several scripts."""
    letters = word.replace("'", "") if "'" in word else word
    if letters.isascii():
        return _LATIN if letters.isalpha() else ""
    return next((name for name, script in _IN_SCRIPT.items() if script.fullmatch(letters)), "")


def folded(word: str) -> str:
    """The word without accents and vowel signs that may be left out; its case is that of ``str.casefold`` already."""
    if word.isascii():
        return word
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", word.translate(_LETTERS)))
    return unicodedata.normalize("NFKC", plain)


def _pairs(run: str) -> list[str]:
    """Neighbouring characters, two by two; a character that stands alone as it is."""
    return [run[place : place + 2] for place in range(len(run) - 1)] or [run]

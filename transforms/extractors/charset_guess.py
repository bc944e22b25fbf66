"""Which encoding bytes most likely have that neither say it nor are UTF-8.

Each encoding reads the bytes in its own way, and each language expects letters in its own shares. What is chosen is the
pair of encoding and language under which the bytes are least surprising. Surprise is counted in bits: of letters
by their share in the language, of capitals within words, of signs between letters, of scripts that
meet in one word. The language that the words in ASCII are in, by CLD2, and the spread of the encodings weigh in
where few letters speak.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from transforms.extractors.charset_letters import LETTERS

_WEST = ("en", "de", "fr", "es", "ca", "gl", "pt", "it", "nl", "da", "nb", "sv", "fi", "is", "eu", "sq")
_CENTRAL = ("pl", "cs", "sk", "hu", "hr", "sl", "ro", "sq", "de")
_BALTIC = ("lt", "lv", "et")
_CYRILLIC = ("ru", "uk", "be", "bg", "mk", "sr")


class _Encoding(NamedTuple):
    """Its languages, and how many bits of surprise it is to meet it."""

    languages: tuple[str, ...]
    bits: int


_ENCODINGS = {
    "cp1252": _Encoding(_WEST, 0),
    "cp1251": _Encoding(_CYRILLIC, 1),
    "cp1250": _Encoding(_CENTRAL, 2),
    "iso8859_2": _Encoding(_CENTRAL, 3),
    "cp1253": _Encoding(("el",), 1),
    "iso8859_7": _Encoding(("el",), 3),
    "cp1254": _Encoding(("tr",), 3),
    "cp1255": _Encoding(("he",), 1),
    "iso8859_8": _Encoding(("he",), 3),
    "cp1256": _Encoding(("ar", "fa"), 1),
    "iso8859_6": _Encoding(("ar",), 4),
    "cp1257": _Encoding(_BALTIC, 4),
    "iso8859_13": _Encoding(_BALTIC, 6),
    "iso8859_15": _Encoding(_WEST, 3),
    "cp874": _Encoding(("th",), 1),
    "koi8_r": _Encoding(("ru", "bg"), 2),
    "koi8_u": _Encoding(("uk", "ru"), 3),
    "iso8859_5": _Encoding(_CYRILLIC, 5),
    "cp866": _Encoding(("ru", "be", "bg", "uk"), 4),
    "cp1125": _Encoding(("uk",), 5),
    "mac_cyrillic": _Encoding(("ru", "uk", "bg"), 9),
    "mac_roman": _Encoding(_WEST, 7),
    "mac_latin2": _Encoding(_CENTRAL, 10),
    "cp850": _Encoding(_WEST, 6),
    "cp437": _Encoding(_WEST, 7),
    "cp852": _Encoding(_CENTRAL, 7),
    "cp857": _Encoding(("tr",), 8),
    "cp775": _Encoding(_BALTIC, 9),
    "cp737": _Encoding(("el",), 6),
    "cp862": _Encoding(("he",), 8),
    "cp932": _Encoding(("ja",), 1),
    "euc_jp": _Encoding(("ja",), 2),
    "gb18030": _Encoding(("zh_CN",), 1),
    "big5hkscs": _Encoding(("zh_TW",), 2),
    "cp949": _Encoding(("ko",), 1),
}
_BY_CLD2 = {"no": "nb", "nn": "nb", "iw": "he", "zh": "zh_CN", "zh-Hant": "zh_TW", "bs": "hr"}
_BY_SCRIPT = ("el", "he", "ja", "ko", "th", "zh_CN", "zh_TW")
"""Languages that CLD2 is sure of by their script alone, whatever the words say."""
_SAMPLE = 2048
_FIRST = 256
"""Bytes of the lines with bytes beyond ASCII that are looked at, and of them at first."""
_BEHIND = 60
"""Bits by which an encoding may be behind the best after the first look."""
_ENOUGH = 40
_SENSELESS = 9.5
"""So many bytes beyond ASCII, of so many bits of surprise each, are no text: texts have 6, noise at least 10.7."""
_LANGUAGE_BITS = 8
"""What it is worth that CLD2 finds the language, where it is sure; half of it where it is not."""

_Key: TypeAlias = tuple[str, str, str]
"""A character, and what stands before and behind it: ``a`` letter of ASCII, ``h`` another, ``H`` a capital, or none."""
_REPEATED = "r"
"""What stands on both sides where it is the same character, as in lines that are drawn and in no word."""
_BEYOND = re.compile("[^\x00-\x7f]")
_LATIN_FROM, _LATIN_TO = "\u00aa", "\u024f"
_EAST_FROM = "\u0e00"
_TYPOGRAPHY = frozenset(
    "\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb\u2013\u2014\u2026\u2022\u00b0\u00a7\u20ac"
    "\u00a9\u00ae\u2122\u00a0\u00bf\u00a1\u00b7\u2116\u00ba\u00aa"
    "\u00a3\u00a5\u00b1\u00b2\u00b3\u00b5\u00b6\u00bc\u00bd\u00be\u00d7\u00f7"
)
_WITHIN_WORDS = frozenset("\u2019\u00b7")
_BEFORE_WORDS = frozenset("\u2018\u201a\u201e\u00bf\u00a1")
_APART = frozenset(
    "\u2022\u00b0\u20ac\u00a7\u00a9\u00ae\u2122\u2116"
    "\u00a3\u00a5\u00b1\u00b3\u00b5\u00b6\u00bc\u00bd\u00be\u00d7\u00f7"
)
_WIDE_SIGNS = frozenset(
    "\u3000\u3001\u3002\u300c\u300d\u300e\u300f\u30fb\uff0c\uff1a\uff01\uff1f\uff08\uff09\uff1b"
)
_ASCII_BITS = 5
_UNKNOWN = 16
_SIGN = 14
_SIGN_IN_WORD = 22
_TYPOGRAPHIC = 6
_TYPOGRAPHIC_IN_WORD = 18
_OUT_OF_PLACE = 8
_BOXES_FROM, _BOXES_TO = "\u2500", "\u259f"
_LEVEL_ONE = 13
_BETWEEN_ASCII = 4
_NO_CHARACTER = 40
_INITIAL = 4
_CAPITALS = 1
_CAPITAL_IN_WORD = 12
_DRAWN = 2
_NO_WORD = 16
_IN_A_ROW = 4
_MIXED = 10
_ALONE = 4
"""Bits of surprise from ``_ASCII_BITS`` on, set by hand: what counts is their order of size."""
_LEVELS = {
    "zh_CN": ("gb2312", 0xB0, 0xD7),
    "zh_TW": ("big5", 0xA4, 0xC6),
    "ja": ("euc_jp", 0xB0, 0xCF),
    "ko": ("euc_kr", 0xB0, 0xC8),
}
"""Where the frequent characters of the East Asian languages are, by the first byte."""


def likeliest(data: bytes) -> list[str]:
    """The encodings that read the beginning of these bytes, the likeliest first.

    None where the bytes make sense in no encoding.
    """
    sample = _telling_lines(data)
    ranked = _ranked(sample[:_FIRST], _ENCODINGS)
    if len(sample) > _FIRST and ranked:
        near = [name for bits, name in ranked if bits <= ranked[0][0] + _BEHIND]
        ranked = _ranked(sample, near) or ranked
    beyond = sum(byte > 0x7F for byte in sample)
    if (
        ranked
        and beyond >= _ENOUGH
        and ranked[0][0] > _SENSELESS * beyond + _ASCII_BITS * (len(sample) - beyond)
    ):
        return []
    return [name for _, name in ranked]


def _telling_lines(data: bytes) -> bytes:
    """The lines with bytes beyond ASCII, up to a size that is enough."""
    found: list[bytes] = []
    size = 0
    for line in data.splitlines():
        if not line.isascii():
            found.append(line)
            size += len(line)
            if size >= _SAMPLE:
                break
    return b"\n".join(found)[: 2 * _SAMPLE]


def _ranked(sample: bytes, encodings: Iterable[str]) -> list[tuple[float, str]]:
    ranked = []
    for name in encodings:
        text = _read(sample, name)
        if text is not None:
            ranked.append((_ENCODINGS[name].bits + _surprise(text, _ENCODINGS[name].languages), name))
    return sorted(ranked, key=lambda found: found[0])


def _read(sample: bytes, encoding: str) -> str | None:
    """The sample's text; its last character may be cut off."""
    for end in range(len(sample), max(0, len(sample) - 4), -1):
        try:
            return sample[:end].decode(encoding)
        except UnicodeDecodeError as error:
            if error.start < end - 4:
                return None
    return None


def _surprise(text: str, languages: Iterable[str]) -> float:
    """Bits of a text in the language that expects it most."""
    keys = Counter(_keys(text))
    ascii_bits = _ASCII_BITS * (len(text) - keys.total())
    found = _languages(text)
    return ascii_bits + min(
        sum(count * _bits(key, language) for key, count in keys.items()) - found.get(language, 0.0)
        for language in languages
    )


def _keys(text: str) -> Iterable[_Key]:
    padded = f"\n{text}\n"
    for match in _BEYOND.finditer(text):
        at = match.start() + 1
        before, character, behind = padded[at - 1], padded[at], padded[at + 1]
        if before == character == behind:
            yield character, _REPEATED, _REPEATED
        else:
            yield character, _kind(before), _kind(behind)


@functools.lru_cache(maxsize=4096)
def _kind(character: str) -> str:
    if not character.isalpha():
        return ""
    if character.isascii():
        return "a"
    return "H" if character.isupper() else "h"


@functools.lru_cache(maxsize=65_536)
def _bits(key: _Key, language: str) -> int:
    character, before, behind = key
    if before == _REPEATED:
        return _DRAWN if _BOXES_FROM <= character <= _BOXES_TO else _NO_WORD
    shares = _shares(language)
    known = shares.get(character)
    if known is None and character.isupper():
        lower = shares.get(character.lower())
        if lower is not None:
            known = lower + _capital(before, behind)
    if known is None:
        return _bits_of_others(character, before, behind, language)
    if _LATIN_FROM <= character <= _LATIN_TO:
        return known + (_IN_A_ROW if before in ("h", "H") else 0)
    if not (before or behind) and character < _EAST_FROM:
        return known + _ALONE
    return known + _MIXED * ((before == "a") + (behind == "a"))


def _capital(before: str, behind: str) -> int:
    if before == "H" or (before == "" and behind == "H"):
        return _CAPITALS
    return _CAPITAL_IN_WORD if before else _INITIAL


def _bits_of_others(character: str, before: str, behind: str, language: str) -> int:
    """Of what is no letter of the language."""
    within = bool(before and behind)
    if character in _TYPOGRAPHY:
        if within and character not in _WITHIN_WORDS:
            return _TYPOGRAPHIC_IN_WORD
        is_out_of_place = (before and character in _BEFORE_WORDS) or (
            (before or behind) and character in _APART
        )
        return _TYPOGRAPHIC + (_OUT_OF_PLACE if is_out_of_place else 0)
    if language in _LEVELS:
        if character in _WIDE_SIGNS:
            return _TYPOGRAPHIC
        codec, first, last = _LEVELS[language]
        encoded = character.encode(codec, "ignore")
        if len(encoded) == 2 and first <= encoded[0] <= last:
            return _LEVEL_ONE + _BETWEEN_ASCII * ((before == "a") + (behind == "a"))
    if _BOXES_FROM <= character <= _BOXES_TO and not (before or behind):
        return _TYPOGRAPHIC
    if character.isalpha():
        return _UNKNOWN
    if not character.isprintable():
        return _NO_CHARACTER
    return _SIGN_IN_WORD if within else _SIGN


@functools.cache
def _shares(language: str) -> Mapping[str, int]:
    """Bits of each letter of a language: one more for each half of a share."""
    groups = LETTERS[language].split("|")
    return {letter: bits for bits, group in enumerate(groups, 1) for letter in group}


def _languages(text: str) -> dict[str, float]:
    """What CLD2 finds, as bits."""
    import pycld2

    try:
        is_reliable, _, details = pycld2.detect(text.encode("utf-8"), bestEffort=True)
    except pycld2.error:
        return {}
    worth = _LANGUAGE_BITS if is_reliable else _LANGUAGE_BITS / 2
    found = ((_BY_CLD2.get(code, code), percent) for _, code, percent, _ in details if percent)
    return {code: worth * percent / 100 for code, percent in found if code not in _BY_SCRIPT}

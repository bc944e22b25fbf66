"""What typesetting did to letters is undone by one rule, in all formats that are laid out.

Ligatures and Arabic presentation forms become the letters that they stand for; soft hyphens, zero-width spaces,
word joiners, marks of byte order and places of objects go. All other characters stay, joiners of emoji and of
Persian among them. Files that are text themselves, and code, stay as they are.
"""

from __future__ import annotations

import re
import unicodedata

_TYPESET = re.compile("[\ufb00-\ufb06\ufb50-\ufdff\ufe70-\ufefc]")
_BRACKETS = str.maketrans("()[]{}", ")(][}{")
_ARABIC = "\u0621-\u064a\u066e-\u06d3"
_MARK_BEFORE_LETTER = re.compile(f" ([\u064b-\u0652]+)([{_ARABIC}])")
_SPACE_AT_WRONG_END = re.compile(
    f"(?<![{_ARABIC}])([\u0648\u0628\u0644\u0641\u0643]) ([A-Za-z][A-Za-z0-9.+-]*)(?=[{_ARABIC}])"
)
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff\ufffc]")


def readable(text: str) -> str:
    """A text with what typesetting did to its letters undone."""
    if text.isascii():
        return text
    text = _TYPESET.sub(lambda found: unicodedata.normalize("NFKC", found.group()), text)
    return _INVISIBLE.sub("", text)


def in_words(text: str) -> str:
    """A line in Arabic script whose marks and Latin words a PDF drew beside their places.

    A mark above a letter begins no word: it belongs to the next letter, and what parts it from the word before was made
    up by the reader. One-letter words are part of the next word; where a Latin word behind one has its space before it
    and none behind, the space was drawn at the wrong end.
    """
    text = _MARK_BEFORE_LETTER.sub(r"\2\1", text)
    return _SPACE_AT_WRONG_END.sub(r"\1\2 ", text)


def unmirrored(text: str) -> str:
    """A line that is written from right to left with its brackets as they are meant.

    Fonts draw an opening bracket there with the sign of a closing one, and some PDFs say that sign. So where the
    brackets close before they open, and the other way round would be right, they are taken for their images.
    """
    if left_open(text) is not None:
        return text
    mirrored = text.translate(_BRACKETS)
    return mirrored if left_open(mirrored) == 0 else text


def left_open(text: str) -> int | None:
    """How many brackets a text leaves open; None where one closes that was not opened before."""
    ends: list[str] = []
    for character in text:
        if character in "([{":
            ends.append(character.translate(_BRACKETS))
        elif character in ")]}" and (not ends or ends.pop() != character):
            return None
    return len(ends)

"""What typesetting did to letters is undone by one rule, in all formats that are laid out.

Ligatures and Arabic presentation forms become the letters that they stand for; soft hyphens, zero-width spaces,
word joiners, marks of byte order and places of objects go. All other characters stay, joiners of emoji and of
Persian among them. Files that are text themselves, and code, stay as they are.
"""

from __future__ import annotations

import re
import unicodedata

_TYPESET = re.compile("[\ufb00-\ufb06\ufb50-\ufdff\ufe70-\ufefc]")
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff\ufffc]")


def readable(text: str) -> str:
    """A text with what typesetting did to its letters undone."""
    if text.isascii():
        return text
    text = _TYPESET.sub(lambda found: unicodedata.normalize("NFKC", found.group()), text)
    return _INVISIBLE.sub("", text)

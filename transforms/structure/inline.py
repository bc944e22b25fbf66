"""The words of a line of Markdown as a page shows them: of a link its text, of code and emphasis what is marked."""

from __future__ import annotations

import re
from functools import lru_cache

_MARKS = re.compile(r"[`*\[<&\\{]")
_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_ATTRIBUTES = re.compile(r"[ \t]*\{:?[ \t]*[#.][^{}]*\}[ \t]*$")
"""What Pandoc, kramdown, Docusaurus and MkDocs read as a heading's anchor and classes, and none of them shows."""
_TAG = re.compile(
    r"</?(?:a|abbr|b|bdi|bdo|big|br|center|cite|code|del|em|font|i|img|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup"
    r"|tt|u|var|wbr)\b[^>]*>|<!--.*?-->",
    re.IGNORECASE,
)
"""Tags of a line. Others may be meant as they stand, as in ``Vec<String>``."""


@lru_cache(maxsize=256)
def words_shown(line: str) -> str:
    """The words of a heading's line, which may hold any marks of CommonMark, on one line.

    Marks of underscores stay: ``__init__`` is a name more often than it is bold.
    """
    if not _MARKS.search(line):
        return line
    if not _MARKS.search(_CODE.sub("", line)):  # by far the most, and told without a parser
        return " ".join(_CODE.sub(r"\1", line).split()) or line
    import pyromark

    source = "# " + _ATTRIBUTES.sub("", line)
    data = source.encode()
    words = []
    for event, span in pyromark.events_with_range(source):
        kind, value = next(iter(event.items())) if isinstance(event, dict) else (event, "")
        if kind in ("Text", "Code"):
            words.append(str(value))
        elif kind == "InlineHtml":
            words.append(_TAG.sub(" " if str(value).startswith("<br") else "", str(value)))
        elif kind in ("Start", "End") and value in ("Emphasis", "Strong"):
            words.append(_underscores(data, span["start"], str(value)))
    return " ".join("".join(words).split()) or line


def _underscores(data: bytes, start: int, kind: str) -> str:
    """The marks of emphasis where they are underscores."""
    return "" if data[start : start + 1] != b"_" else "__" if kind == "Strong" else "_"

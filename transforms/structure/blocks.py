"""The blocks of a canonical text, with exact offsets.

Markdown is CommonMark with tables. Most of a text is paragraphs, headings and fences that stand by themselves:
these are told by their first characters. Whatever else begins, as a list, a table, a quote or HTML, is parsed up
to where a blank line is followed by one of those. Plain text has paragraphs between blank lines.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias

from transforms.model.document import Block, BlockKind
from transforms.structure.commonmark import commonmark_blocks, heading, ink_end, paragraphs

if TYPE_CHECKING:
    from collections.abc import Iterator

Syntax: TypeAlias = Literal["markdown", "plain"]

_FRONT_MATTER = re.compile(r"---[ \t]*\n(?=[\w\"'-]+[ \t]*:)(?:[^\n]*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_TOML = re.compile(r"\+\+\+[ \t]*\n(?=\s*(?:[\w\"'.-]+[ \t]*=|\[|\#))(?:[^\n]*\n)*?\+\+\+[ \t]*(?:\n|\Z)")

# Lines by how they begin.
_END = r"(?:\n|\Z)"
_REST = rf"[^\n]*+{_END}"
_PLAIN = (
    r"(?:[^\s#>\-+*_=`~|<\[\d:\\]|\d{1,8}+[^.)\d\s]|\*{1,2}+[^\s*]|_{1,2}+[^\s_]|`{1,2}+[^\s`]"
    r"|\[[^\[\]\\\n]*+\][^:\n])"
)
"""Of a paragraph, whatever stands around it."""
_HEADING = rf"\#{{1,6}}(?:[ \t]|{_END})"
_FENCE = rf"(?:`{{3,}}[^`\n]*+|~{{3,}}[^\n]*+){_END}"
_NO_ITEM = r"(?:[^\s\-+*\d\[]|\d{1,8}+[^.)\d\s])"
"""What ends, behind a blank line, every list and quote."""
_FIRST_ITEM = r"(?:[-+*]|1[.)])[ ][^\s\-*_+|:]"
"""What ends a paragraph even without a blank line: neither a rule nor the line under a table's header."""
_EASY = re.compile(
    rf"""(?: (?P<prose> (?:{_PLAIN}{_REST})++ (?=[ \t]*+{_END}|{_HEADING}|{_FENCE}|{_FIRST_ITEM}))
           | (?P<heading> (?P<marks>\#{{1,6}})(?:[ \t][^\n]*+)?{_END})
           | (?P<fence> (?P<opening>`{{3,}}|~{{3,}})(?P<info>[^`\n\\&]*+){_END})
           | (?P<bullets> (?P<bullet>[-+*])[ ][^\s\-*_+]{_REST}
                (?:(?:(?P=bullet)[ ][^\s\-*_+]|[ ]{{2,}}\S){_REST})*+ (?=\Z|(?:[ \t]*+\n)++(?:\Z|{_NO_ITEM})))
           | (?P<numbers> \d{{1,2}}+(?P<mark>[.)])[ ]\S{_REST}
                (?:(?:\d{{1,2}}+(?P=mark)[ ]|[ ]{{4,}})\S{_REST})*+ (?=\Z|(?:[ \t]*+\n)++(?:\Z|{_NO_ITEM})))
           | (?P<quote> (?:>{_REST})++ (?=[ \t]*+{_END}))
           | (?P<table> (?P<header>\|[^\n\\`]*\|)[ \t]*+\n
                (?P<delimiter>\|(?:[ \t]*+:?-++:?[ \t]*+\|)++)[ \t]*+{_END} (?:\|{_REST})*+ (?=[ \t]*+{_END}))
           | (?P<blank> [ \t]*+\n))
       (?:[ \t]*+\n)*+""",
    re.VERBOSE,
)
_KINDS = {
    "prose": BlockKind.PARAGRAPH,
    "quote": BlockKind.PARAGRAPH,
    "bullets": BlockKind.LIST,
    "numbers": BlockKind.LIST,
    "table": BlockKind.TABLE,
}
_BEHIND_PARSED = re.compile(rf"\n(?:[ \t]*+\n)++(?={_NO_ITEM})")
_CLOSING = re.compile(r"^[ ]{0,3}(`{3,}|~{3,})[ \t]*$", re.MULTILINE)


def parse_blocks(text: str, syntax: Syntax) -> tuple[Block, ...]:
    """The blocks of ``text`` in order, disjoint, holding all of its ink."""
    if syntax == "plain":
        return tuple(paragraphs(text, 0, len(text)))
    return tuple(_markdown(text))


def _markdown(text: str) -> Iterator[Block]:
    at = 0
    front = _FRONT_MATTER.match(text) or _TOML.match(text)
    if front:
        at = front.end()
        yield Block(BlockKind.CODE, 0, ink_end(text, 0, at), language="yaml" if text[0] == "-" else "toml")
    if "\r" in text:  # which ends lines to the parser; there is none in a canonical text
        yield from commonmark_blocks(text, at, len(text))[0]
        return
    while at < len(text):
        found = _EASY.match(text, at)
        kind = found.lastgroup if found else None
        if found is None or kind is None or (kind == "table" and not _has_columns(found)):
            blocks, at = _parsed(text, at)
            yield from blocks
            continue
        start, at = at, found.end()
        if kind == "heading":
            yield heading(text, start, ink_end(text, start, found.end(kind)), found.end("marks") - start)
        elif kind == "fence":
            at = _behind_fence(text, found.end(kind), found["opening"])
            language = found["info"].split(maxsplit=1)
            end = ink_end(text, start, at)
            yield Block(BlockKind.CODE, start, end, language=language[0] if language else None)
        elif kind != "blank":
            yield Block(_KINDS[kind], start, ink_end(text, start, found.end(kind)))


def _has_columns(table: re.Match[str]) -> bool:
    """As many under the header's line as in it; else it is a paragraph."""
    return table["header"].count("|") == table["delimiter"].count("|")


def _parsed(text: str, at: int) -> tuple[list[Block], int]:
    """Blocks of what is not easy, and where it ends: the rest of the text, where something may be open."""
    end = len(text)
    found = _BEHIND_PARSED.search(text, at)
    if found:
        blocks, is_open = commonmark_blocks(text, at, found.end())
        if not is_open:
            return blocks, found.end()
    return commonmark_blocks(text, at, end)[0], end


def _behind_fence(text: str, at: int, opening: str) -> int:
    for closing in _CLOSING.finditer(text, at):
        if closing[1].startswith(opening):
            return closing.end()
    return len(text)

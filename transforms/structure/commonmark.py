"""What CommonMark, with tables, makes of a part of a text: outermost blocks as the parser finds them.

pulldown-cmark is the only parser here. Whatever it passes over (link definitions, rules) becomes a paragraph, so
that all ink lies in exactly one block.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from transforms.model.document import Block, BlockKind
from transforms.structure.inline import words_shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_Found: TypeAlias = tuple[object, int, int]
"""A top-level event of the parser with its span."""

_KINDS = {"List": BlockKind.LIST, "Table": BlockKind.TABLE, "CodeBlock": BlockKind.CODE}
_PARAGRAPH = re.compile(r"\S[^\n]*+(?:\n(?![^\S\n]*+(?:\n|\Z))[^\n]*+)*+")
_OPENING_MARKS = re.compile(r"#{1,6}(?:[ \t]+|$)")
_CLOSING_MARKS = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HTML_WITH_AN_END = re.compile(r"<(?:[?!]|script|pre|style|textarea)", re.IGNORECASE)
_COMMENT = re.compile(r"[ ]{0,3}<!--(?:[^-]|-(?!->))*+-->[ \t]*")


def commonmark_blocks(text: str, first: int, last: int) -> tuple[list[Block], bool]:
    """The blocks of ``text[first:last]``, and whether the last of them may go on behind it.

    The part begins at a line, with nothing before it open.
    """
    blocks: list[Block] = []
    done, name = first, ""
    for event, parsed_start, parsed_end in _top_level(text, first, last):
        start = max(parsed_start, done)
        between = text[done:start]
        if between and not between.isspace():
            blocks += paragraphs(text, done, start)
            done = start
        end = ink_end(text, start, parsed_end)
        if end > start:
            blocks.append(_block(event, text, _line_start(text, start, done), end))
            done, name = end, event if isinstance(event, str) else next(iter(event))  # type: ignore[call-overload]
    rest = list(paragraphs(text, done, last))
    is_open = not rest and _may_go_on(name, text, blocks)
    return blocks + rest, is_open


def paragraphs(text: str, start: int, end: int) -> Iterator[Block]:
    """What stands between blank lines, as paragraphs."""
    for found in _PARAGRAPH.finditer(text, start, end):
        yield Block(BlockKind.PARAGRAPH, found.start(), ink_end(text, *found.span()))


def heading(text: str, start: int, end: int, level: int) -> Block:
    """The heading of a span."""
    return Block(BlockKind.HEADING, start, end, level, heading_title(text[start:end]))


def heading_title(source: str) -> str:
    """The words of a heading as a page shows them: without ``#`` at both ends, or without the line below."""
    source = source.strip()
    if "\n" in source:
        return words_shown(" ".join(line.strip() for line in source.split("\n")[:-1]))
    return words_shown(_CLOSING_MARKS.sub("", _OPENING_MARKS.sub("", source, count=1)).strip())


def ink_end(text: str, start: int, end: int) -> int:
    """The end of the ink in a span."""
    while end > start and text[end - 1].isspace():
        end -= 1
    return end


def _may_go_on(name: str, text: str, blocks: list[Block]) -> bool:
    """HTML and fences can hold blank lines; all else ends where a blank line is followed by unindented text."""
    if not blocks or name not in ("HtmlBlock", "CodeBlock"):
        return False
    last = text[blocks[-1].start : blocks[-1].end]
    if name == "HtmlBlock":
        return _COMMENT.fullmatch(last) is None and _HTML_WITH_AN_END.search(last) is not None
    lines = last.split("\n")
    opening, closing = _FENCE.match(lines[0]), _FENCE.fullmatch(lines[-1].rstrip(" \t"))
    is_closed = len(lines) > 1 and opening and closing and closing[1].startswith(opening[1])
    return opening is not None and not is_closed


def _top_level(text: str, first: int, last: int) -> Iterator[_Found]:
    """Each outermost element; the parser counts bytes of UTF-8, we count code points."""
    part = text[first:last]
    parsed: Iterable[_Found] = _outermost(part)
    for event, start, end in parsed if part.isascii() else _in_points(parsed, part.encode()):
        yield event, first + start, first + end


def _outermost(text: str) -> list[_Found]:
    import pyromark

    found: list[_Found] = []
    end = 0
    for event, span in pyromark.events_with_range(text, options=pyromark.Options.ENABLE_TABLES):
        if span["start"] >= end and type(event) is dict and "Start" in event:
            end = span["end"]
            found.append((event["Start"], span["start"], end))
    return found


def _in_points(found: Iterable[_Found], data: bytes) -> Iterator[_Found]:
    seen_bytes = seen_points = 0
    for event, first, last in found:
        start = seen_points + len(data[seen_bytes:first].decode())
        seen_bytes, seen_points = last, start + len(data[first:last].decode())
        yield event, start, seen_points


def _block(event: object, text: str, start: int, end: int) -> Block:
    if event == "Paragraph":
        return Block(BlockKind.PARAGRAPH, start, end)
    # An event is its name, or a dictionary of its name to what is said about it.
    name, value = next(iter(event.items())) if isinstance(event, dict) else (event, None)
    if name == "Heading" and isinstance(value, dict):
        return heading(text, start, end, int(value["level"][1:]))
    kind = _KINDS.get(str(name), BlockKind.PARAGRAPH)
    if kind is BlockKind.CODE and isinstance(value, dict) and value["Fenced"].strip():
        return Block(kind, start, end, language=value["Fenced"].split()[0])
    return Block(kind, start, end)


def _line_start(text: str, start: int, least: int) -> int:
    """Back over the indentation, which belongs to its block."""
    before = start
    while before > least and text[before - 1] in " \t":
        before -= 1
    return before if before == 0 or text[before - 1] == "\n" else start

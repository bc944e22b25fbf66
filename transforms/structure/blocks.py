"""The blocks of a canonical text, with exact offsets.

Markdown is parsed as CommonMark with tables by pulldown-cmark. Whatever the parser passes over (link
definitions, rules) becomes a paragraph, so that all ink lies in exactly one block. Plain text has paragraphs
between blank lines.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias

from transforms.model.document import Block, BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Syntax: TypeAlias = Literal["markdown", "plain"]
Found: TypeAlias = tuple[object, int, int]
"""A top-level event of the parser with its span."""

_KINDS = {"List": BlockKind.LIST, "Table": BlockKind.TABLE, "CodeBlock": BlockKind.CODE}
_PARAGRAPH = re.compile(r"\S[^\n]*+(?:\n(?![^\S\n]*+(?:\n|\Z))[^\n]*+)*+")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?=[\w\"'-]+[ \t]*:)(?:[^\n]*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_OPENING_MARKS = re.compile(r"#{1,6}(?:[ \t]+|$)")
_CLOSING_MARKS = re.compile(r"(?:^|[ \t])#+[ \t]*$")


def parse_blocks(text: str, syntax: Syntax) -> tuple[Block, ...]:
    """The blocks of ``text`` in order, disjoint, holding all of its ink."""
    if syntax == "plain":
        return tuple(_paragraphs(text, 0, len(text)))
    return tuple(_markdown(text))


def _paragraphs(text: str, start: int, end: int) -> Iterator[Block]:
    for found in _PARAGRAPH.finditer(text, start, end):
        yield Block(BlockKind.PARAGRAPH, found.start(), _ink_end(text, *found.span()))


def _markdown(text: str) -> Iterator[Block]:
    done = 0
    front = _FRONT_MATTER.match(text)
    if front:
        done = front.end()
        yield Block(BlockKind.CODE, 0, _ink_end(text, 0, done), language="yaml")
    for event, parsed_start, parsed_end in _top_level(text, done):
        start = max(parsed_start, done)
        between = text[done:start]
        if between and not between.isspace():
            yield from _paragraphs(text, done, start)
            done = start
        end = _ink_end(text, start, parsed_end)
        if end > start:
            yield _block(event, text, _line_start(text, start, done), end)
            done = end
    yield from _paragraphs(text, done, len(text))


def _top_level(text: str, origin: int) -> Iterable[Found]:
    """Each outermost element behind ``origin``; the parser counts bytes of UTF-8, we count code points."""
    rest = text[origin:] if origin else text
    parsed = _outermost(rest)
    found = parsed if rest.isascii() else _in_points(parsed, rest.encode())
    return found if not origin else [(event, origin + first, origin + last) for event, first, last in found]


def _outermost(text: str) -> list[Found]:
    import pyromark

    found: list[Found] = []
    end = 0
    for event, span in pyromark.events_with_range(text, options=pyromark.Options.ENABLE_TABLES):
        if span["start"] >= end and type(event) is dict and "Start" in event:
            end = span["end"]
            found.append((event["Start"], span["start"], end))
    return found


def _in_points(found: Iterable[Found], data: bytes) -> Iterator[Found]:
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
        level = int(value["level"][1:])
        return Block(BlockKind.HEADING, start, end, level, _title(text[start:end]))
    kind = _KINDS.get(str(name), BlockKind.PARAGRAPH)
    if kind is BlockKind.CODE and isinstance(value, dict) and value["Fenced"].strip():
        return Block(kind, start, end, language=value["Fenced"].split()[0])
    return Block(kind, start, end)


def _title(source: str) -> str:
    """The words of a heading: without ``#`` at both ends, or without the line below."""
    source = source.strip()
    if "\n" in source:
        return " ".join(line.strip() for line in source.split("\n")[:-1])
    return _CLOSING_MARKS.sub("", _OPENING_MARKS.sub("", source, count=1)).strip()


def _line_start(text: str, start: int, least: int) -> int:
    """Back over the indentation, which belongs to its block."""
    before = start
    while before > least and text[before - 1] in " \t":
        before -= 1
    return before if before == 0 or text[before - 1] == "\n" else start


def _ink_end(text: str, start: int, end: int) -> int:
    return start + len(text[start:end].rstrip())

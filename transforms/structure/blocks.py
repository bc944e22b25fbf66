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
    from collections.abc import Iterator

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
        start, end = max(parsed_start, done), min(parsed_end, len(text))
        if start > done and not text[done:start].isspace():
            yield from _paragraphs(text, done, start)
            done = start
        end = _ink_end(text, start, end)
        if end > start:
            yield _block(event, text, _line_start(text, start, done), end)
            done = end
    yield from _paragraphs(text, done, len(text))


def _top_level(text: str, origin: int) -> Iterator[Found]:
    """Each outermost element behind ``origin``; the parser counts bytes of UTF-8, we count code points."""
    import pyromark

    rest = text[origin:] if origin else text
    data = None if rest.isascii() else rest.encode()
    seen_bytes = seen_points = outermost_end = 0
    for event, span in pyromark.events_with_range(rest, options=pyromark.Options.ENABLE_TABLES):
        first = span["start"]
        if first < outermost_end or type(event) is not dict or "Start" not in event:
            continue
        outermost_end = last = span["end"]
        if data is not None:
            first = seen_points + len(data[seen_bytes:first].decode())
            seen_bytes, last = last, first + len(data[span["start"] : last].decode())
            seen_points = last
        yield event["Start"], origin + first, origin + last


def _block(event: object, text: str, start: int, end: int) -> Block:
    # An event is its name, or a dictionary of its name to what is said about it.
    name, value = next(iter(event.items())) if isinstance(event, dict) else (event, None)
    if name == "Heading" and isinstance(value, dict):
        return Block(
            BlockKind.HEADING, start, end, level=int(value["level"][1:]), title=_title(text[start:end])
        )
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
    while end > start and text[end - 1].isspace():
        end -= 1
    return end

"""The blocks of a canonical text, with exact offsets.

Markdown is parsed by markdown-it-py, block rules only: inline marks do not matter here and cost the most.
Whatever the parser passes over (link definitions, for instance) becomes a paragraph, so that all ink lies
in exactly one block. Front matter between lines of dashes counts as code, so that it is cut at lines.
Plain text has paragraphs between blank lines.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, TypeAlias

from transforms.model.document import Block, BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

Syntax: TypeAlias = Literal["markdown", "plain"]

_KINDS = {
    "heading_open": BlockKind.HEADING,
    "bullet_list_open": BlockKind.LIST,
    "ordered_list_open": BlockKind.LIST,
    "table_open": BlockKind.TABLE,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
}
_FRONT_MATTER = re.compile(r"---[^\S\n]*\n[\w-]+[^\S\n]*:(?:.*\n)+?(?:---|\.\.\.)[^\S\n]*(?:\n|\Z)")
_PARAGRAPH = re.compile(r"\S(?:[^\n]|\n(?![^\S\n]*(?:\n|\Z)))*")


def parse_blocks(text: str, syntax: Syntax) -> tuple[Block, ...]:
    """The blocks of ``text`` in order, disjoint, holding all of its ink."""
    if syntax == "plain":
        return tuple(_paragraphs(text, 0, len(text)))
    return tuple(_markdown(text))


def _paragraphs(text: str, start: int, end: int) -> Iterator[Block]:
    for found in _PARAGRAPH.finditer(text, start, end):
        ink = found.group().rstrip()
        yield Block(BlockKind.PARAGRAPH, found.start(), found.start() + len(ink))


def _markdown(text: str) -> Iterator[Block]:
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    done = 0
    front = _FRONT_MATTER.match(text)
    if front:
        done = front.end()
        yield Block(BlockKind.CODE, 0, len(front.group().rstrip()))
    # Blank lines in its place, so that the parser's line numbers hold.
    body = "\n" * text.count("\n", 0, done) + text[done:]
    for token in _top_level(body):
        if token.map is None:
            continue
        first, last = token.map
        # Never back over what a block before has taken: blocks stay disjoint whatever the parser says.
        start, end = max(done, starts[first]), min(starts[last], len(text))
        yield from _paragraphs(text, done, start)
        trimmed = _trim(text, start, end)
        if trimmed is not None:
            yield _block(token, text, *trimmed)
        done = max(done, end)
    yield from _paragraphs(text, done, len(text))


def _top_level(text: str) -> Iterator[Token]:
    depth = 0
    for token in _parser().parse(text):
        if depth == 0 and token.nesting >= 0:
            yield token
        depth += token.nesting


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.disable(["inline", "text_join"])
    return parser


def _trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Without the line breaks around; an indentation stays with its block."""
    ink = text[start:end]
    if not ink.strip():
        return None
    return start + len(ink) - len(ink.lstrip("\n")), start + len(ink.rstrip())


def _block(token: Token, text: str, start: int, end: int) -> Block:
    kind = _KINDS.get(token.type, BlockKind.PARAGRAPH)
    if kind is BlockKind.HEADING:
        return Block(
            kind, start, end, level=int(token.tag[1:]), title=_title(text[start:end], token.markup)
        )
    if kind is BlockKind.CODE and token.info.strip():
        return Block(kind, start, end, language=token.info.split()[0])
    return Block(kind, start, end)


def _title(line: str, markup: str) -> str:
    if markup in ("=", "-"):
        return " ".join(line.split("\n")[:-1]).strip()
    inner = line.strip().lstrip("#").strip()
    return re.sub(r"(?:^|\s)#+$", "", inner).strip()

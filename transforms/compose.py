"""What is embedded for a chunk: title, breadcrumb, context and text, within the model's input.

Where all of it does not fit, the context behind the text gives way first, then that before it, then the header that
a part of a table carries, then the breadcrumb, then the title; never the text.
"""

from __future__ import annotations

import posixpath
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from transforms.model.document import BlockKind
from transforms.structure.commonmark import heading_title
from transforms.structure.inline import words_shown
from transforms.structure.nested import nested_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from transforms.chunkers.settings import BreadcrumbSettings, ChunkSettings
    from transforms.chunkers.size import Measure
    from transforms.model.document import Block, Document
    from transforms.structure.outline import Section

BUDGET_CUT = "budget_cut"
"""Warning: title, breadcrumb or context were left out or shortened to fit the model's input."""
_CARRIED_LINES = {BlockKind.TABLE: 2, BlockKind.CODE: 1}


@dataclass(frozen=True, slots=True)
class Title:
    """A document's title, whole, and where it is from: metadata, heading or file."""

    text: str | None
    origin: str | None


class Parts(NamedTuple):
    """What stands around a chunk's text in its embedded text. Empty parts are left out."""

    title: str
    breadcrumb: str
    context: str
    text: str
    instead: str = ""
    """What stands for the text: it with the header of a table or code that began before, or a row by a template."""
    context_after: str = ""


def document_title(document: Document, name: str, settings: ChunkSettings) -> Title:
    """The first title there is, in the order that the settings name."""
    for origin in settings.compose.title.from_:
        if origin == "metadata.title" and document.title and document.title.strip():
            return Title(document.title.strip(), "metadata")
        if origin == "first_heading":
            heading = next(
                (b.title for b in document.blocks if b.kind is BlockKind.HEADING and b.title), None
            )
            if heading:
                return Title(heading, "heading")
        if origin == "file_stem":
            return Title(posixpath.splitext(posixpath.basename(name))[0] or name, "file")
    return Title(None, None)


def short_title(title: str | None, max_chars: int) -> str:
    """The title as embedded: cut at a word where it is too long."""
    if not title or len(title) <= max_chars:
        return title or ""
    cut = title[: max_chars + 1].rpartition(" ")[0]
    return (cut or title[:max_chars]).rstrip()


def breadcrumb(section: Section, title: str, text: str, settings: BreadcrumbSettings) -> str:
    """The headings above a chunk, without what the title or the chunk's own first line says already."""
    if settings.from_ == "none":
        return ""
    path = list(section.path if settings.from_ == "path" else section.path[-1:])
    if settings.skip_equal_title and path and path[0] in (title, words_shown(title)):
        path = path[1:]
    if path and path[-1] == _first_line(text):
        path = path[:-1]
    return settings.separator.join(short_title(heading, settings.max_chars) for heading in path)


class Carried:
    """What a later part of a table or of code needs to be understood: header row, or the fence's first line.

    Nothing longer than ``size.target``: repeated in every part, the header of a wide table would outgrow the table.
    """

    def __init__(self, document: Document, settings: ChunkSettings, measure: Measure) -> None:
        """``measure`` is of the unit of ``settings.size``."""
        self._text = document.text
        self._blocks = list(_carried(document))
        self._starts = [block.start for block in self._blocks]
        self._ends = [
            end if measure(block.start, end) <= settings.size.target else block.start
            for block, end in ((block, _header_end(self._text, block)) for block in self._blocks)
        ]

    def header(self, start: int) -> str:
        """For a chunk whose ink begins at ``start``; empty where that is no later part."""
        place = bisect_right(self._starts, start) - 1
        if place < 0 or self._blocks[place].end <= start or start < self._ends[place]:
            return ""
        return self._text[self._starts[place] : self._ends[place]].rstrip()


def compose(
    parts: Parts, settings: ChunkSettings, count: Callable[[str], int], budget: int
) -> tuple[str, Parts]:
    """The embedded text within ``budget`` tokens, and what is left in it; never less than the chunk's text."""
    for smaller in _giving_way(parts):
        text = join(smaller, settings)
        if count(text) <= budget:
            return text, smaller
    bare = Parts("", "", "", parts.text)
    return parts.text, bare


def join(parts: Parts, settings: ChunkSettings) -> str:
    """The parts in the order of the settings; a title that the text begins with is not said twice."""
    is_repeated = _first_line(parts.text) in (parts.title, words_shown(parts.title))
    repeated = parts.title if is_repeated else None
    said = []
    for name in settings.compose.parts:
        part = (parts.instead or parts.text) if name == "text" else getattr(parts, name)
        if part and (name == "text" or part != repeated):
            said.append(part)
    return settings.compose.separator.join(said)


def _carried(document: Document) -> Iterator[Block]:
    for block in document.blocks:
        if block.kind in _CARRIED_LINES:
            yield block
        else:
            yield from nested_tables(document.text, block)


def _header_end(text: str, block: Block) -> int:
    """Behind the lines of a block that its later parts carry; its start where there are none."""
    lines = 0 if block.kind is BlockKind.CODE and not block.language else _CARRIED_LINES[block.kind]
    end = block.start
    for _ in range(lines):
        end = text.find("\n", end, block.end) + 1 or block.end
    return end


def _first_line(text: str) -> str:
    """The words of the first line with ink; of a heading as its title has them."""
    begin = len(text) - len(text.lstrip()) if text[:1].isspace() else 0
    end = text.find("\n", begin)
    line = (text[begin:] if end < 0 else text[begin:end]).strip()
    if line.startswith("#"):
        return heading_title(line)
    is_underlined = end >= 0 and text[end + 1 : end + 2] in ("=", "-")
    return words_shown(line) if is_underlined else line


def _giving_way(parts: Parts) -> Iterator[Parts]:
    yield parts
    while parts.context_after:
        words = parts.context_after.split(" ")
        parts = parts._replace(context_after=" ".join(words[: len(words) // 2]).rstrip())
        yield parts
    while parts.context:
        words = parts.context.split(" ")
        parts = parts._replace(context=" ".join(words[len(words) // 2 + 1 :]))
        yield parts
    bare = parts._replace(instead="")
    yield bare
    yield bare._replace(breadcrumb="")

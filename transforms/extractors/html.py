"""HTML to Markdown: the main content, with headings, lists, tables, code and links' text.

Parsed by lxml's HTML parser, which mends what browsers mend. Menus, headers, footers, forms and scripts are
left out by what the elements are; a page whose main content is marked (``main``, ``article``) is reduced to
it; on others, what is nearly all links is left out as well.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from transforms.extractors.charset import decode
from transforms.extractors.html_content import Content
from transforms.extractors.letters import readable
from transforms.extractors.markdown_writer import MarkdownWriter
from transforms.extractors.mathml import mathml_text
from transforms.extractors.numerals import letters, roman
from transforms.extractors.scripts import lowered, raised, settled
from transforms.model.document import Document, JsonValue, canonical_text
from transforms.model.errors import RejectedError
from transforms.structure.blocks import parse_blocks

if TYPE_CHECKING:
    from lxml.html import HtmlElement

    from transforms.extractors.settings import ExtractSettings

_BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "html", "legend", "main", "nav",
    "p", "section", "summary",
))  # fmt: skip
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_CELLS = ("td", "th")
_ROW_GROUPS = ("thead", "tbody", "tfoot")
_LISTS = ("ul", "ol", "menu")
_LIST_STYLE = re.compile(r"list-style(?:-type)?\s*:[^;]*\b((?:lower|upper)-(?:alpha|latin|roman))\b")
_TYPES = {"a": "lower-alpha", "A": "upper-alpha", "i": "lower-roman", "I": "upper-roman"}
_INNER_BLOCKS = (*_LISTS, "pre", "table")
_LINES = _BLOCKS | {"li", "tr"}
_SCRIPTS = {"sup": raised, "sub": lowered}
_INNER = "\0"
"""In the raw text of an item, where a list, a table or code stands; no page has it."""
_DIGITS = 9
"""Of a number that an attribute states, at most."""
_SPACE = re.compile(r"\s+")
_LANGUAGE = re.compile(r"\b(?:language|lang|highlight-source|brush:)[-\s]*([\w+#-]+)")
_PERMALINKS = ("headerlink", "anchor", "anchorjs-link", "hash-link", "permalink")
_PERMALINK_SIGNS = ("¶", "#", "§", "\U0001f517", "\uf0c1")
_METADATA = {
    "author": "author", "description": "description", "keywords": "keywords",
    "article:published_time": "created", "article:modified_time": "modified", "date": "created",
}  # fmt: skip
_SPAN_AT_MOST = 1000
_CELLS_AT_MOST = 200_000
_LAYOUT = re.compile(r"</?(?:div|span|font|center|section|article)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?([a-z][\w-]*)\b[^<>]*>", re.IGNORECASE)
_FLAT = frozenset((
    "body", "br", "h1", "h2", "h3", "h4", "h5", "h6", "head", "html", "meta", "noscript", "p", "pre", "script", "style",
    "textarea", "title",
))  # fmt: skip
_LOOKS = frozenset((
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd",
    "label", "mark", "nobr", "q", "rb", "ruby", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "tt",
    "u", "var", "wbr",
))  # fmt: skip
FLATTENED = "structure_flattened"
"""Warning: a page nested too deep for its lists, tables and quotes to be told from paragraphs."""
_DEEPEST = 2048
"""Levels of elements that libxml2 keeps."""
_CALLS_A_LEVEL = 4


def extract_html(data: bytes, settings: ExtractSettings) -> Document:
    """The page's content as Markdown; its title and language as metadata.

    Raises:
        RejectedError: ``corrupt`` where there is no page, ``no_text`` where there is no text on it.
    """
    text, warnings = decode(data, settings.encoding)
    root, is_flat = _parsed(re.sub(r"\A\s*<\?xml[^>]*\?>", "", canonical_text(text)))
    if is_flat:
        warnings = (*warnings, FLATTENED)
    with _deep_calls():
        markdown = _markdown(root, settings)
    if not markdown.strip():
        raise RejectedError(
            "no_text", "The page has no text of its own; it may be made by a script in the browser."
        )
    return Document(
        markdown,
        parse_blocks(markdown, "markdown"),
        "text/html",
        "html/2",
        title=_squeezed(root.findtext(".//title") or "") or None,
        language=root.get("lang") or None,
        metadata=_metadata(root),
        warnings=warnings,
    )


def _parsed(text: str) -> tuple[HtmlElement, bool]:
    """The page's tree, and whether lists, tables and quotes had to go for it.

    Where a page is too deep for the parser, boxes that only lay it out become line breaks, and where that is not enough
    all that nests. Beyond its limit the parser drops all that follows and says so in its log alone.
    """
    for is_flat, simpler in ((False, str), (False, _without_boxes), (True, _flattened)):
        root, is_whole = _tree(simpler(text))
        if is_whole:
            return root, is_flat
    raise RejectedError("too_deep", f"The page nests its elements more than {_DEEPEST:,} deep.")


def _without_boxes(text: str) -> str:
    return _LAYOUT.sub("<br>", text)


def _flattened(text: str) -> str:
    """A page of headings, paragraphs and cells; words that only had a look stay whole."""
    return _TAG.sub(
        lambda tag: tag[0] if tag[1].lower() in _FLAT else "" if tag[1].lower() in _LOOKS else "<br>", text
    )


def _tree(text: str) -> tuple[HtmlElement, bool]:
    from lxml import etree, html

    parser = html.HTMLParser(huge_tree=True, no_network=True)
    try:
        root = html.document_fromstring(text, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError) as error:
        raise RejectedError("corrupt", f"The page cannot be parsed: {error}.") from error
    return root, not any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log)


@contextlib.contextmanager
def _deep_calls() -> Iterator[None]:
    """Let calls nest as deep as a page may: a few a level, none of them on the machine's own stack."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _CALLS_A_LEVEL * _DEEPEST + before))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _markdown(root: HtmlElement, settings: ExtractSettings) -> str:
    keep_hidden = settings.hidden_text == "keep"
    if settings.main_content:
        content = Content.main(root, keep_hidden=keep_hidden)
        text = _written(content)
        if text.strip():
            return text
    return _written(Content(root, keep_hidden=keep_hidden))


def _written(content: Content) -> str:
    writer = _Writer(content)
    writer.write(content.root)
    writer.end_paragraph()
    return writer.out.text


def _metadata(root: HtmlElement) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    for element in root.iter("meta"):
        name = _METADATA.get((element.get("name") or element.get("property") or "").lower())
        value = _squeezed(element.get("content") or "")
        if name and value:
            found.setdefault(name, value)
    return found


@dataclass(slots=True)
class _Writer:
    """Walks through a page; text outside of blocks gathers to paragraphs."""

    content: Content
    out: MarkdownWriter = field(default_factory=MarkdownWriter)
    _line: list[str] = field(default_factory=list)

    def write(self, element: HtmlElement) -> None:
        tag = element.tag
        if not isinstance(tag, str) or self.content.leaves_out(element):
            return
        if tag in _HEADINGS:
            self.end_paragraph()
            self.out.heading(int(tag[1]), self._inline(element, skip_permalinks=True))
        elif tag == "table":
            self.end_paragraph()
            self._table(element)
        elif tag in _LISTS:
            self.end_paragraph()
            self._list(element, 0)
        elif tag == "pre":
            self.end_paragraph()
            self.out.code(self._preformatted(element), _language(element))
        elif tag in ("br", "hr"):
            self.end_paragraph()
        elif tag == "math":
            self._line.append(mathml_text(element))
        elif tag in _SCRIPTS:
            self._line.append(_SCRIPTS[tag](self._raw(element)))
        else:
            # Items and cells of no list and no table stand by themselves too.
            self._children(element, own_block=tag in _LINES or tag in _CELLS)

    def end_paragraph(self) -> None:
        text = _squeezed("".join(self._line))
        self._line = []
        if text:
            self.out.paragraph(text)

    def _children(self, element: HtmlElement, *, own_block: bool) -> None:
        if own_block:
            self.end_paragraph()
        self._line.append(element.text or "")
        for child in element:
            self.write(child)
            self._line.append(child.tail or "")
        if own_block:
            self.end_paragraph()

    def _list(self, items: HtmlElement, depth: int) -> None:
        """Items on lines of their own, numbered as the page shows them."""
        number = _number(items.get("start"), 1)
        step = 1
        if items.get("reversed") is not None:
            number, step = _number(items.get("start"), sum(item.tag == "li" for item in items)), -1
        for item in items:
            if item.tag in _LISTS:
                # Not allowed, and common.
                self._list(item, depth + 1)
            elif isinstance(item.tag, str) and not self.content.leaves_out(item):
                number = _number(item.get("value"), number)
                marker = _marker(items, item, max(number, 0)) if items.tag == "ol" else None
                if self._item(item, depth, marker):
                    number += step

    def _item(self, item: HtmlElement, depth: int, marker: int | str | None) -> bool:
        """An item, its lists, tables and code each before the text that follows it; whether there is any of it."""
        inner = list(self._outermost(item))
        first, *rest = self._raw(item, without=inner).split(_INNER)
        is_written = self._line_of_item(_squeezed(first), depth, marker)
        for block, behind in zip(inner, map(_squeezed, rest), strict=True):
            if block.tag in _LISTS:
                self._list(block, depth + 1)
            else:
                self.write(block)
            if is_written:
                self.out.paragraph(behind)
            else:
                is_written = self._line_of_item(behind, depth, marker)
        return is_written or bool(inner)

    def _line_of_item(self, text: str, depth: int, marker: int | str | None) -> bool:
        """An item's own line behind its number, or what is shown for that; whether it has one."""
        if isinstance(marker, str):
            self.out.item(f"{marker} {text}" if text else "", depth)
        else:
            self.out.item(text, depth, marker)
        return bool(text)

    def _outermost(self, element: HtmlElement) -> Iterator[HtmlElement]:
        """What of an item is no part of its line."""
        for child in element:
            if not isinstance(child.tag, str) or self.content.leaves_out(child):
                continue
            if child.tag in _INNER_BLOCKS:
                yield child
            elif child.tag != "math":
                yield from self._outermost(child)

    def _preformatted(self, element: HtmlElement) -> str:
        """The text of code as its page shows it: in lines, also where elements part them, and without buttons."""
        parts = [element.text or ""]
        for child in element:
            tail = child.tail or ""
            if child.tag == "br":
                parts.append("\n")
            elif isinstance(child.tag, str) and not self.content.leaves_out(child):
                inner = self._preformatted(child)
                is_line = child.tag in _LINES and bool(inner)
                if is_line and not next(filter(None, reversed(parts)), "\n").endswith("\n"):
                    parts.append("\n")
                parts.append(inner)
                if is_line and not inner.endswith("\n"):
                    parts.append("\n")
                    tail = tail.removeprefix("\n")
            parts.append(tail)
        return "".join(parts)

    def _table(self, table: HtmlElement) -> None:
        """Rows with pipes; a table around others, or of one row or column, only arranges its cells."""
        for caption in table.iterchildren("caption"):
            self.out.paragraph(self._inline(caption))
        groups = list(_row_groups(table))
        rows = [row for group in groups for row in group]
        is_layout = (
            next(table.iterdescendants("table"), None) is not None or table.get("role") == "presentation"
        )
        if is_layout or len(rows) < 2 or max(map(len, rows), default=0) < 2:
            for cell in (cell for row in rows for cell in row):
                self._children(cell, own_block=True)
            return
        self.out.table(self._grid(groups), _headers(rows))

    def _grid(self, groups: list[list[list[HtmlElement]]]) -> Iterator[list[str]]:
        """The cells' text; a merged cell is repeated in each place that it covers in its group of rows."""
        left = _CELLS_AT_MOST
        for rows in groups:
            grid: list[dict[int, str]] = [{} for _ in rows]
            for number, row in enumerate(rows):
                left = self._fill(row, grid[number : number + _SPAN_AT_MOST], left)
            for places in grid:
                yield [places.get(column, "") for column in range(max(places, default=-1) + 1)]

    def _fill(self, row: list[HtmlElement], below: list[dict[int, str]], left: int) -> int:
        """Write the cells of a row into its free places and all others that they cover; how many are left."""
        column = 0
        for cell in row:
            while column in below[0]:
                column += 1
            text = self._inline(cell)
            rows, columns = below[: _span(cell, "rowspan")], _span(cell, "colspan")
            left -= len(rows) * columns
            if left < 0:
                raise RejectedError(
                    "too_large", "A table of the page spans more cells than any page shows."
                )
            for covered in rows:
                for place in range(column, column + columns):
                    covered.setdefault(place, text)
        return left

    def _inline(
        self, element: HtmlElement, *, without: Iterable[HtmlElement] = (), skip_permalinks: bool = False
    ) -> str:
        return _squeezed(self._raw(element, without=without, skip_permalinks=skip_permalinks))

    def _raw(
        self, element: HtmlElement, *, without: Iterable[HtmlElement] = (), skip_permalinks: bool = False
    ) -> str:
        """All text of an element, its marks not settled; a sign in place of each element that it is ``without``."""
        return "".join(self._texts(element, set(without), skip_permalinks=skip_permalinks))

    def _texts(
        self, element: HtmlElement, skipped: set[HtmlElement], *, skip_permalinks: bool
    ) -> Iterator[str]:
        if element.tag == "math":
            yield mathml_text(element)
            return
        yield element.text or ""
        for child in element:
            if child in skipped:
                yield _INNER
            elif child.tag == "input" and child.get("type") == "checkbox":
                yield "[ ] " if child.get("checked") is None else "[x] "
            elif isinstance(child.tag, str) and not self.content.leaves_out(child):
                texts = self._texts(child, skipped, skip_permalinks=skip_permalinks)
                # Inline elements are part of a word; all others part words.
                edge = " " if child.tag in _LINES or child.tag in ("br", *_CELLS) else ""
                if child.tag in _SCRIPTS:
                    yield _SCRIPTS[child.tag]("".join(texts))
                elif not (skip_permalinks and _is_permalink(child)):
                    yield edge
                    yield from texts
                    yield edge
            yield child.tail or ""


def _is_permalink(element: HtmlElement) -> bool:
    """Whether it is a heading's link to itself, by its class or as a sign that leads into the page."""
    if any(name in (element.get("class") or "").split() for name in _PERMALINKS):
        return True
    is_inside = element.tag == "a" and (element.get("href") or "").startswith("#")
    return is_inside and element.text_content().strip() in _PERMALINK_SIGNS


def _row_groups(table: HtmlElement) -> Iterator[list[list[HtmlElement]]]:
    """A table's own rows, by the groups that merged cells end with; the foot may stand first."""
    loose: list[HtmlElement] = []
    for child in (*sorted(table, key=lambda child: bool(child.tag == "tfoot")), None):
        if child is not None and child.tag == "tr":
            loose.append(child)
        elif child is None or child.tag in _ROW_GROUPS:
            if loose:
                yield list(map(_cells, loose))
                loose = []
            if child is not None:
                yield [_cells(row) for row in child if row.tag == "tr"]


def _headers(rows: list[list[HtmlElement]]) -> int:
    """How many of the first rows are heads of columns: those of the table's head, or of nothing but such cells."""
    for number, row in enumerate(rows):
        is_head = (
            not row
            or row[0].getparent().getparent().tag == "thead"
            or all(cell.tag == "th" for cell in row)
        )
        # A single cell below others is the title of the rows that follow it.
        if not is_head or (number and len(row) == 1):
            return number
    return 1


def _cells(row: HtmlElement) -> list[HtmlElement]:
    return [cell for cell in row if cell.tag in _CELLS]


def _marker(items: HtmlElement, item: HtmlElement, number: int) -> int | str:
    """An item's number, or what the page shows for it in letters or Roman numerals."""
    stated = (item.get("type") or items.get("type") or "").strip()
    style = _LIST_STYLE.search(f"{items.get('style') or ''};{item.get('style') or ''}".lower())
    kind = style[1] if style else _TYPES.get(stated, "")
    if not kind or not number:
        return number
    numeral = roman(number) if kind.endswith("roman") else letters(number)
    return f"{numeral.upper() if kind.startswith('upper') else numeral}."


def _number(value: str | None, default: int) -> int:
    value = (value or "").strip()
    return int(value) if value.isascii() and value.isdigit() and len(value) <= _DIGITS else default


def _span(cell: HtmlElement, name: str) -> int:
    span = min(_number(cell.get(name), 1), _SPAN_AT_MOST)
    # 0 means all rows that are left.
    return span or (_SPAN_AT_MOST if name == "rowspan" else 1)


def _language(element: HtmlElement) -> str:
    """The language that the classes of a block of code, of what is in it or of what is around it, name."""
    parent = element.getparent()
    around = [] if parent is None else [parent]
    for each in [*element.iter(), *around]:
        found = _LANGUAGE.search(each.get("class") or "")
        if found:
            return found[1]
    return ""


def _squeezed(text: str) -> str:
    return _SPACE.sub(" ", readable(settled(text))).strip()

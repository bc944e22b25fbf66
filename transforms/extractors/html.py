"""HTML to Markdown: the main content, with headings, lists, tables, code and links' text.

Parsed by lxml's HTML parser, which mends what browsers mend. Menus, headers, footers, forms and scripts are
left out by what the elements are, which is predictable; a page whose main content is marked (``main``,
``article``) is reduced to it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from transforms.extractors.charset import decode
from transforms.extractors.text import pipe_row
from transforms.model.document import Document, canonical_text
from transforms.model.errors import RejectedError
from transforms.structure.blocks import parse_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.html import HtmlElement

    from transforms.extractors.settings import ExtractSettings

_NEVER = {
    "script",
    "style",
    "noscript",
    "template",
    "svg",
    "head",
    "iframe",
    "object",
    "select",
    "button",
    "input",
}
_AROUND = {"nav", "header", "footer", "aside", "form", "dialog"}
_AROUND_ROLES = {"navigation", "banner", "contentinfo", "search", "complementary", "menu"}
_BLOCKS = {
    "p", "div", "section", "article", "main", "blockquote", "figure", "figcaption", "address", "dl", "dt", "dd",
    "body", "html", "center", "details", "summary", "fieldset", "header", "footer", "nav", "aside", "form",
}  # fmt: skip
_SPACE = re.compile(r"\s+")


def extract_html(data: bytes, settings: ExtractSettings) -> Document:
    """The page's content as Markdown; its title and language as metadata.

    Raises:
        RejectedError: ``corrupt`` where there is no page, ``no_text`` where there is no text on it.
    """
    from lxml import etree, html

    text, warnings = decode(data, settings.encoding)
    text = re.sub(r"\A\s*<\?xml[^>]*\?>", "", canonical_text(text))
    try:
        # As bytes: lxml refuses text with an encoding declaration, wherever that stands.
        parser = html.HTMLParser(huge_tree=False, no_network=True, encoding="utf-8")
        root = html.document_fromstring(text.encode(), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError) as error:
        raise RejectedError("corrupt", f"The page cannot be parsed: {error}.") from error
    writer = _Writer(main_content=settings.main_content)
    markdown = writer.document(_content(root) if settings.main_content else root)
    if not markdown.strip() and settings.main_content:
        markdown = _Writer(main_content=False).document(root)
    if not markdown.strip():
        raise RejectedError(
            "no_text", "The page has no text of its own; it may be made by a script in the browser."
        )
    title = _SPACE.sub(" ", root.findtext(".//title") or "").strip() or None
    return Document(
        markdown,
        parse_blocks(markdown, "markdown"),
        "text/html",
        "html/1",
        title=title,
        language=root.get("lang"),
        warnings=warnings,
    )


def _content(root: HtmlElement) -> HtmlElement:
    """The one element that says it is the main content, else the whole page."""
    for path in (".//main", ".//*[@role='main']", ".//article"):
        found: list[HtmlElement] = root.xpath(path)
        if len(found) == 1 and len(found[0].text_content().split()) > 20:
            return found[0]
    return root


class _Writer:
    """Collects Markdown blocks; inline content is text with white space folded."""

    def __init__(self, *, main_content: bool) -> None:
        self._main_content = main_content
        self._blocks: list[str] = []
        self._line: list[str] = []

    def document(self, root: HtmlElement) -> str:
        self._element(root)
        self._end_line()
        return "\n\n".join(self._blocks) + ("\n" if self._blocks else "")

    def _element(self, element: HtmlElement) -> None:
        tag = element.tag
        if not isinstance(tag, str) or self._left_out(element):
            return
        if re.fullmatch("h[1-6]", tag):
            self._block("#" * int(tag[1]) + " " + _inline(element))
        elif tag == "table":
            self._end_line()
            self._table(element)
        elif tag in ("ul", "ol"):
            self._block("\n".join(_list_lines(element, 0)))
        elif tag == "pre":
            self._block(_fenced(element))
        elif tag == "br":
            self._end_line()
        else:
            self._children(element, own_block=tag in _BLOCKS)

    def _children(self, element: HtmlElement, *, own_block: bool) -> None:
        if own_block:
            self._end_line()
        self._line.append(element.text or "")
        for child in element:
            self._element(child)
            self._line.append(child.tail or "")
        if own_block:
            self._end_line()

    def _left_out(self, element: HtmlElement) -> bool:
        if element.tag in _NEVER or element.get("hidden") is not None:
            return True
        around = element.tag in _AROUND or element.get("role") in _AROUND_ROLES
        # The header of an article holds its title.
        inside = element.tag == "header" and any(True for _ in element.iterancestors("article", "main"))
        return self._main_content and around and not inside

    def _table(self, table: HtmlElement) -> None:
        rows = [
            [_inline(cell) for cell in row if cell.tag in ("td", "th") for _ in range(_colspan(cell))]
            for row in table.iter("tr")
        ]
        rows = [row for row in rows if any(row)]
        for caption in table.iter("caption"):
            self._block(_inline(caption))
        if rows:
            width = max(len(row) for row in rows)
            lines = [pipe_row(row + [""] * (width - len(row))) for row in rows]
            lines.insert(1, pipe_row(["---"] * width))
            self._block("\n".join(lines))

    def _block(self, text: str) -> None:
        self._end_line()
        if text.strip().strip("#").strip():
            self._blocks.append(text)

    def _end_line(self) -> None:
        text = _SPACE.sub(" ", "".join(self._line)).strip()
        self._line = []
        if text:
            self._blocks.append(text)


def _colspan(cell: HtmlElement) -> int:
    """A merged cell is repeated in each of its columns."""
    value = cell.get("colspan", "1")
    return min(int(value), 100) if value.isdigit() and int(value) else 1


def _inline(element: HtmlElement) -> str:
    return _SPACE.sub(" ", "".join(_texts(element))).strip()


def _texts(element: HtmlElement) -> Iterator[str]:
    if element.tag in _NEVER or not isinstance(element.tag, str):
        return
    yield element.text or ""
    for child in element:
        yield " " if child.tag in _BLOCKS or child.tag in ("br", "li", "td", "tr") else ""
        yield from _texts(child)
        yield child.tail or ""


def _list_lines(items: HtmlElement, depth: int) -> Iterator[str]:
    number = 0
    for item in items:
        if item.tag != "li":
            continue
        number += 1
        mark = f"{number}." if items.tag == "ol" else "-"
        nested = [child for child in item if child.tag in ("ul", "ol")]
        own = _SPACE.sub(" ", "".join(_own_texts(item))).strip()
        yield "  " * depth + f"{mark} {own}"
        for child in nested:
            yield from _list_lines(child, depth + 1)


def _own_texts(item: HtmlElement) -> Iterator[str]:
    yield item.text or ""
    for child in item:
        if child.tag not in ("ul", "ol"):
            yield " " if child.tag in _BLOCKS else ""
            yield from _texts(child)
        yield child.tail or ""


def _fenced(element: HtmlElement) -> str:
    code = "".join(element.itertext()).strip("\n")
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    language = re.search(
        r"(?:language|lang)-([\w+#-]+)", " ".join(c.get("class", "") for c in element.iter())
    )
    return f"{fence}{language[1] if language else ''}\n{code}\n{fence}"

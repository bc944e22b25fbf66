"""Which elements of a page are its content, and which are around it on every page of a site."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_NEVER = frozenset((
    "audio", "button", "canvas", "embed", "head", "iframe", "input", "noscript", "object", "rp", "rt", "rtc", "script",
    "select", "style", "svg", "template", "textarea", "video",
))  # fmt: skip
"""Among them the readings above East Asian characters, which repeat them."""
_AROUND = frozenset(("nav", "header", "footer", "aside", "form", "dialog"))
_AROUND_ROLES = frozenset(
    ("navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar")
)
_AROUND_NAMES = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|navigation|menu|sidebar|footer|breadcrumbs?|cookies?|skip|social|share|related|"
    r"masthead|pagination|toolbar|widget)(?:$|[\s_-])"
)
_CONTAINERS = frozenset(("div", "section", "ul", "ol", "table", "center", "dl"))
_HIDDEN = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_MAIN = (".//main", ".//*[@role='main']", ".//article")
_WORDS_OF_MAIN = 20
_MOSTLY_LINKS = 0.8
_MANY_LINKS = 4
_NAMED_LINKS = 0.4
"""Share of links from which on an element is around the content whose class or id says so."""
_FIELDS = _NEVER | {"label", "legend", "option"}
_FORMS = 8
"""How many of a page's forms are looked at: one around the page is among its first."""
_LEFT_AT_LEAST = 0.1
"""Of a page's text: when less is left, the page is a list of links and they are its content."""


class Content:
    """A part of a page, and what in it is left out."""

    def __init__(self, root: HtmlElement, *, keep_hidden: bool) -> None:
        """Everything below ``root`` that is text."""
        self.root = root
        self._keep_hidden = keep_hidden
        self._is_main = False
        self._dropped: set[HtmlElement] = set()
        self._forms_around: list[HtmlElement] = []

    @classmethod
    def main(cls, root: HtmlElement, *, keep_hidden: bool) -> Content:
        """The main content of a page: the one element that is marked as it, else the page without menus."""
        for path in _MAIN:
            found: list[HtmlElement] = root.xpath(path)
            if len(found) == 1 and len(found[0].text_content().split()) > _WORDS_OF_MAIN:
                return cls(found[0], keep_hidden=keep_hidden)._without_surroundings()
        content = cls(root, keep_hidden=keep_hidden)._without_surroundings()
        content._dropped = _link_lists(root, content)
        return content

    def _without_surroundings(self) -> Content:
        self._is_main = True
        self._forms_around = _forms_around(self.root)
        return self

    def leaves_out(self, element: HtmlElement) -> bool:
        """Whether an element, with all in it, is no content."""
        if element.tag in _NEVER or element in self._dropped or _is_drawn_formula(element):
            return True
        if not self._keep_hidden and _is_hidden(element):
            return True
        if not self._is_main or element is self.root or element in self._forms_around:
            return False
        return _is_around(element)


def _is_hidden(element: HtmlElement) -> bool:
    return element.get("hidden") is not None or _HIDDEN.search(element.get("style") or "") is not None


def _is_drawn_formula(element: HtmlElement) -> bool:
    """Whether it is the drawing of a formula that stands beside it as MathML, as KaTeX and MathJax have it."""
    if element.get("aria-hidden") != "true" or element.tag not in ("span", "nobr"):
        return False
    beside = (element.getprevious(), element.getnext())
    return any(each is not None and each.find("math") is not None for each in beside)


def _is_around(element: HtmlElement) -> bool:
    if element.tag not in _AROUND and element.get("role") not in _AROUND_ROLES:
        return False
    return element.tag != "header" or not _holds_title(element)


def _holds_title(header: HtmlElement) -> bool:
    """Whether it is the header of an article or, as Pandoc has it, of a document, and not of a site."""
    # What is in another header stays with it, or is not come to.
    if next(header.iterancestors("article", "main", "header"), None) is not None:
        return True
    return header.find(".//h1") is not None and header.find(".//a") is None


def _forms_around(root: HtmlElement) -> list[HtmlElement]:
    """Forms that hold most of the text themselves: some servers put one around each page."""
    forms = list(islice(root.iter("form"), _FORMS))
    return [form for form in forms if 2 * _prose(form) > _prose(root)]


def _prose(element: HtmlElement) -> int:
    """Letters of the text that is no part of a field of a form."""
    own = (
        _letters(each.text)
        for each in element.iter()
        if isinstance(each.tag, str) and each.tag not in _FIELDS
    )
    return sum(own) + sum(_letters(each.tail) for each in element.iterdescendants())


def _link_lists(root: HtmlElement, content: Content) -> set[HtmlElement]:
    """Containers that are nearly all links, or are so by half and named as a menu or the like."""
    lengths: dict[HtmlElement, tuple[int, int, int]] = {}
    for element in reversed(list(root.iter())):
        lengths[element] = _lengths(element, lengths, content)
    whole = lengths[root][0]
    dropped = {
        element
        for element, (text, linked, links) in lengths.items()
        if element.tag in _CONTAINERS and _is_menu(element, text, linked, links)
    }
    outermost = [
        element for element in dropped if not any(above in dropped for above in element.iterancestors())
    ]
    left = whole - sum(lengths[element][0] for element in outermost)
    return dropped if left > _LEFT_AT_LEAST * whole else set()


def _lengths(
    element: HtmlElement, lengths: dict[HtmlElement, tuple[int, int, int]], content: Content
) -> tuple[int, int, int]:
    """Letters of text, letters of links' text, and links, of what is not left out for other reasons."""
    if not isinstance(element.tag, str) or content.leaves_out(element):
        return 0, 0, 0
    text = _letters(element.text)
    linked = links = 0
    for child in element:
        child_text, child_linked, child_links = lengths[child]
        text += child_text + _letters(child.tail)
        linked += child_linked
        links += child_links
    if element.tag == "a":
        return text, text, 1
    return text, linked, links


def _letters(text: str | None) -> int:
    return len("".join(text.split())) if text else 0


def _is_menu(element: HtmlElement, text: int, linked: int, links: int) -> bool:
    if links >= _MANY_LINKS and linked > _MOSTLY_LINKS * text:
        return True
    names = f"{element.get('class') or ''} {element.get('id') or ''}".lower()
    return links > 0 and linked > _NAMED_LINKS * text and _AROUND_NAMES.search(names) is not None

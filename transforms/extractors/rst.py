"""Reads reStructuredText with docutils and writes it as Markdown; no other file is ever read through it.

Directives and roles that docutils does not know, as those of Sphinx, give what they hold: a role its text, a
directive its argument and its body. Left out are comments, raw output, includes and tables of contents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from transforms.extractors.charset import decode
from transforms.extractors.containers import RST
from transforms.extractors.markdown_writer import MarkdownWriter
from transforms.extractors.rst_directives import Directive, parse_directive
from transforms.extractors.scripts import lowered, raised, settled
from transforms.model.document import Document, canonical_text
from transforms.model.errors import RejectedError
from transforms.structure.blocks import parse_blocks

if TYPE_CHECKING:
    from docutils import nodes

    from transforms.extractors.settings import ExtractSettings

_SAFE = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "halt_level": 5,
    "report_level": 5,
    "warning_stream": False,
    "doctitle_xform": False,
    "docinfo_xform": False,
    "syntax_highlight": "none",
    "smart_quotes": False,
    "line_length_limit": 1_000_000,
}
_SCRIPTS = {"superscript": raised, "subscript": lowered}
_MAX_NESTED = 16
"""Unknown directives in each other; each is parsed anew."""
_ROLE = re.compile(r"^:[\w.+:-]+:`(.*)`$|^`(.*)`(?::[\w.+:-]+:)?$", re.DOTALL)
_EXPLICIT = re.compile(r"^(.*?)\s*<[^<>]*>$", re.DOTALL)


def extract_rst(data: bytes, name: str, settings: ExtractSettings) -> Document:  # noqa: ARG001
    """The one document of a reStructuredText file.

    Raises:
        RejectedError: ``wrong_charset``, ``no_text``, ``corrupt`` where it is nested without end, or
            ``reader_failed`` where docutils gives up.
    """
    source, warnings = decode(data, settings.encoding)
    writer = _Writer()
    try:
        writer.write(canonical_text(source))
    except RecursionError as error:
        raise RejectedError(
            "corrupt", "The file nests its content deeper than anyone writes it."
        ) from error
    text = writer.out.text
    if not text:
        raise RejectedError("no_text", "The file holds comments and directives only.")
    return Document(text, parse_blocks(text, "markdown"), RST, "rst/1", warnings=warnings)


class _Writer:
    """Walks through a document tree; a node's handler is the method of its name."""

    def __init__(self) -> None:
        self.out = MarkdownWriter()
        self._nested = 0

    def write(self, source: str, level: int = 0) -> None:
        """Parse and write a text whose sections lie below headings of ``level``."""
        self._children(_parsed(source), level, 0)

    def _children(self, node: nodes.Element, level: int, depth: int) -> None:
        for child in node.children:
            self._node(child, level, depth)

    def _node(self, node: nodes.Node, level: int, depth: int) -> None:
        """Write one block; ``depth`` counts the lists around it."""
        name = type(node).__name__
        handler = getattr(self, f"_{name}", None)
        if handler is not None:
            handler(node, level, depth)
        elif name in _ADMONITIONS:
            self._admonition(node, level, depth)  # type: ignore[arg-type]
        elif name not in _LEFT_OUT and hasattr(node, "children"):
            self._children(node, level, depth)  # type: ignore[arg-type]

    def _section(self, node: nodes.Element, level: int, depth: int) -> None:
        self._children(node, level + 1, depth)

    def _title(self, node: nodes.title, level: int, depth: int) -> None:  # noqa: ARG002
        if type(node.parent).__name__ == "section":
            self.out.heading(level, inline_text(node))
        else:
            self.out.paragraph(inline_text(node))

    def _paragraph(self, node: nodes.Element, level: int, depth: int) -> None:  # noqa: ARG002
        self.out.paragraph(inline_text(node))

    _rubric = _subtitle = _caption = _attribution = _math_block = _paragraph

    def _literal_block(self, node: nodes.Element, level: int, depth: int) -> None:  # noqa: ARG002
        stated: list[str] = node.get("classes", [])
        classes = [name for name in stated if name != "code"]
        self.out.code(node.astext(), classes[0] if classes else "")

    def _doctest_block(self, node: nodes.Element, level: int, depth: int) -> None:  # noqa: ARG002
        self.out.code(node.astext(), "python")

    def _line_block(self, node: nodes.Element, level: int, depth: int) -> None:  # noqa: ARG002
        self.out.paragraph("\n".join(_lines(node)))

    def _bullet_list(self, node: nodes.Element, level: int, depth: int) -> None:
        for item in node.children:
            self._item(item, level, depth, None)  # type: ignore[arg-type]

    def _enumerated_list(self, node: nodes.Element, level: int, depth: int) -> None:
        for number, item in enumerate(node.children, node.get("start", 1)):
            self._item(item, level, depth, number)  # type: ignore[arg-type]

    def _item(self, item: nodes.Element, level: int, depth: int, number: int | None) -> None:
        leading, others = _split(item)
        self.out.item("\n".join(leading), depth, number)
        for other in others:
            self._node(other, level, depth + 1)

    def _definition_list_item(self, node: nodes.Element, level: int, depth: int) -> None:
        term = " : ".join(inline_text(child) for child in node.children[:-1])
        leading, others = _split(node.children[-1])  # type: ignore[arg-type]
        self.out.paragraph("\n".join([term, *leading]))
        for other in others:
            self._node(other, level, depth)

    def _field(self, node: nodes.Element, level: int, depth: int) -> None:
        leading, others = _split(node.children[1])  # type: ignore[arg-type]
        self.out.item(f"{inline_text(node.children[0])}: {' '.join(leading)}", depth)
        for other in others:
            self._node(other, level, depth + 1)

    def _option_list_item(self, node: nodes.Element, level: int, depth: int) -> None:
        options, description = node.children
        leading, others = _split(description)  # type: ignore[arg-type]
        names = ", ".join(option.astext() for option in options.children)
        self.out.item(f"{names}: {' '.join(leading)}", depth)
        for other in others:
            self._node(other, level, depth + 1)

    def _footnote(self, node: nodes.Element, level: int, depth: int) -> None:
        label, *body = node.children
        leading, others = _split(body)
        self.out.paragraph(f"[^{label.astext()}]: {' '.join(leading)}")
        for other in others:
            self._node(other, level, depth)

    _citation = _footnote

    def _admonition(self, node: nodes.Element, level: int, depth: int) -> None:
        """A note, named as what it is, as readers see it."""
        name = type(node).__name__
        leading, others = _split(node)
        label = "" if name == "admonition" else f"{name.capitalize()}: "
        self.out.paragraph(label + "\n".join(leading))
        for other in others:
            self._node(other, level, depth)

    def _topic(self, node: nodes.Element, level: int, depth: int) -> None:
        if "contents" not in node.get("classes", ()):
            self._children(node, level, depth)

    def _image(self, node: nodes.Element, level: int, depth: int) -> None:  # noqa: ARG002
        self.out.paragraph(node.get("alt", ""))

    def _table(self, node: nodes.Element, level: int, depth: int) -> None:
        for child in node.children:
            if type(child).__name__ == "title":
                self._node(child, level, depth)
        heads = [
            row for head in node.findall(lambda one: type(one).__name__ == "thead") for row in head.children
        ]
        self.out.table(_grid(node), len(heads))

    def _system_message(self, node: nodes.Element, level: int, depth: int) -> None:
        """A directive that docutils could not carry out is written by what it holds."""
        for child in node.children:
            if type(child).__name__ == "literal_block" and (found := parse_directive(child.astext())):
                self._directive(found, level, depth)

    def _directive(self, directive: Directive, level: int, depth: int) -> None:  # noqa: ARG002
        if directive.language is not None:
            self.out.code(directive.body, directive.language)
            return
        self.out.paragraph(directive.heading)
        if directive.body.strip() and self._nested < _MAX_NESTED:
            self._nested += 1
            self.write(directive.body, level)
            self._nested -= 1
        else:
            self.out.paragraph(directive.body)


def _parsed(source: str) -> nodes.document:
    from docutils.core import publish_doctree

    try:
        return publish_doctree(source, settings_overrides=dict(_SAFE))
    except (RecursionError, MemoryError):
        raise
    except Exception as error:
        # docutils documents no errors for its input, and on markup that breaks its rules it has raised
        # several kinds of them.
        said = f"{type(error).__name__}: {error}"
        raise RejectedError("reader_failed", f"docutils cannot parse the file: {said}.") from error


_ADMONITIONS = frozenset(
    {"attention", "caution", "danger", "error", "hint", "important", "note", "tip", "warning"}
)
_LEFT_OUT = frozenset(
    {"comment", "substitution_definition", "target", "pending", "raw", "meta", "transition", "decoration"}
    | {"label", "Text"}
)


def inline_text(node: nodes.Node) -> str:
    """The text of inline content as readers see it: roles and links by their text, notes by their mark."""
    return settled(_inline(node))


def _inline(node: nodes.Node) -> str:
    name = type(node).__name__
    if name == "problematic":
        return role_text(node.astext())
    if name in ("footnote_reference", "citation_reference"):
        return f"[^{node.astext()}]"
    if name == "image":
        alt: str = node.get("alt", "")  # type: ignore[attr-defined]
        return alt
    if name in ("raw", "system_message"):
        return ""
    if not node.children:
        return node.astext()
    text = "".join(map(_inline, node.children))
    return _SCRIPTS.get(name, str)(text)


def role_text(source: str) -> str:
    """What a reader sees of a role that is not known: ``text`` of ``:ref:`text <target>```."""
    match = _ROLE.match(source.strip())
    if match is None:
        return source
    inside = match[1] or match[2] or ""
    explicit = _EXPLICIT.match(inside)
    return explicit[1] if explicit and explicit[1] else inside.lstrip("~!")


def _split(node: nodes.Element | list[nodes.Node]) -> tuple[list[str], list[nodes.Node]]:
    """The texts of the paragraphs that a body begins with, and all that follows them."""
    children = list(node if isinstance(node, list) else node.children)
    leading: list[str] = []
    while children and type(children[0]).__name__ in ("paragraph", "title"):
        leading.append(inline_text(children.pop(0)))
    return leading, children


def _lines(node: nodes.Element) -> Iterator[str]:
    for child in node.children:
        if type(child).__name__ == "line_block":
            yield from _lines(child)  # type: ignore[arg-type]
        else:
            yield inline_text(child)


def _grid(table: nodes.Element) -> Iterator[list[str]]:
    """A table's rows, merged cells repeated in each place they cover."""
    pending: dict[int, tuple[int, str]] = {}
    for row in table.findall(lambda node: type(node).__name__ == "row"):
        texts: list[str] = []
        for entry in row.children:
            _repeat(pending, texts)
            text = " ".join(_cell(entry.children))
            for _ in range(entry.get("morecols", 0) + 1):  # type: ignore[attr-defined]
                pending[len(texts)] = (entry.get("morerows", 0), text)  # type: ignore[attr-defined]
                texts.append(text)
        _repeat(pending, texts)
        yield texts


def _repeat(pending: dict[int, tuple[int, str]], texts: list[str]) -> None:
    """Fill the places at the end of a row that cells above reach down to."""
    while pending.get(len(texts), (0, ""))[0] > 0:
        rows, text = pending[len(texts)]
        pending[len(texts)] = (rows - 1, text)
        texts.append(text)


def _cell(children: Iterable[nodes.Node]) -> Iterator[str]:
    for child in children:
        if type(child).__name__ in ("paragraph", "title", "term", "line", "literal_block"):
            yield inline_text(child)
        elif type(child).__name__ not in _LEFT_OUT:
            yield from _cell(child.children)

"""Where source code may be cut: between the nodes of its syntax tree, found by tree-sitter's grammars."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from transforms.model.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tree_sitter import Node, Parser

_GRAMMARS = {
    "python": ("tree_sitter_python", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_tsx"),
    "java": ("tree_sitter_java", "language"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "sql": ("tree_sitter_sql", "language"),
}
_ALIASES = {"py": "python", "js": "javascript", "jsx": "javascript", "ts": "typescript", "tsx": "typescript",
            "golang": "go", "rs": "rust", "c++": "cpp", "h": "c"}  # fmt: skip
_CLOSING = ")]}>;, \t\n"
LARGEST = 1_000_000
"""Code points parsed at most. A file over it is generated as a rule, and a grammar may recover slowly from
what it does not understand."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A run of code that is not cut; ``depth`` is how many nodes stand around it."""

    start: int
    end: int
    depth: int


def grammar_of(language: str | None) -> str | None:
    """The grammar that reads a language; None where there is none."""
    name = (language or "").lower()
    name = _ALIASES.get(name, name)
    return name if name in _GRAMMARS else None


def syntax_units(text: str, grammar: str, fits: Callable[[int, int], bool]) -> list[Unit]:
    """The largest nodes that fit, in order, each on lines of its own; a comment is part of what follows it.

    A node that does not fit and cannot be taken apart at line ends is a unit all the same.

    Raises:
        ConfigError: the grammars are not installed.
    """
    data = text.encode()
    place = _points(text, data)
    nodes = _nodes(_parser(grammar).parse(data).root_node, lambda node: fits(*place(node)))
    return _by_lines(text, [(Unit(*place(node), depth), "comment" in node.type) for node, depth in nodes])


def _nodes(root: Node, fits: Callable[[Node], bool]) -> Iterator[tuple[Node, int]]:
    """Depth first without recursion: hostile code nests deeper than Python's stack."""
    waiting = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        # A body is only looked at where what it is the body of does not fit: it is cut with its head.
        if node.child_count and (_is_body(node) or not fits(node)):
            waiting += [(child, depth + 1) for child in reversed(node.children)]
        else:
            yield node, depth


def _is_body(node: Node) -> bool:
    return node.type == "compound_statement" or node.type.endswith(("block", "body", "declaration_list"))


def _by_lines(text: str, found: list[tuple[Unit, bool]]) -> list[Unit]:
    units: list[Unit] = []
    glued = False
    for unit, comment in found:
        if unit.start >= unit.end:
            continue
        closes = not text[unit.start : unit.end].strip(_CLOSING)
        if units and (glued or closes or "\n" not in text[units[-1].end : unit.start]):
            units[-1] = Unit(units[-1].start, unit.end, min(units[-1].depth, unit.depth))
        else:
            units.append(unit)
        glued = comment
    return units


def _points(text: str, data: bytes) -> Callable[[Node], tuple[int, int]]:
    """From a node's bytes to code points."""
    if len(data) == len(text):
        return lambda node: (node.start_byte, node.end_byte)
    # Continuation bytes before each byte are what the two counts differ by.
    before = [0]
    for byte in data:
        before.append(before[-1] + (byte & 0xC0 == 0x80))
    return lambda node: (
        node.start_byte - before[node.start_byte],
        node.end_byte - before[node.end_byte],
    )


@lru_cache
def _parser(grammar: str) -> Parser:
    module, function = _GRAMMARS[grammar]
    try:
        from tree_sitter import Language, Parser

        return Parser(Language(getattr(importlib.import_module(module), function)()))
    except ImportError as error:
        raise ConfigError(
            f"Strategy code reads {grammar} with {module}, which is not installed: pip install 'parquetry[code]'."
        ) from error

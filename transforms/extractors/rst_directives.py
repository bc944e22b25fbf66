"""Decides what a directive that docutils does not carry out leaves in the text, from its source alone."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

_START = re.compile(r"\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?([\w.+:-]+?)[ \t]?::(?:[ \t]+([^\n]*))?(?:\n|\Z)")
_OPTION = re.compile(r"[ \t]*:[\w-][^:\n]*:(?:[ \t][^\n]*)?(?:\n|\Z)")

_CODE = frozenset(
    {"code", "code-block", "sourcecode", "parsed-literal", "prompt", "ipython", "console"}
    | {"doctest", "testcode", "testoutput", "productionlist"}
)
_SILENT = frozenset(
    {"toctree", "include", "raw", "index", "contents", "meta", "highlight", "currentmodule"}
    | {"module", "py:module", "py:currentmodule", "tabularcolumns", "sectionauthor", "codeauthor"}
    | {"automodule", "autoclass", "autofunction", "automethod", "autosummary", "autoattribute", "image"}
    | {"default-domain", "default-role", "role", "figure", "graphviz", "mermaid", "literalinclude", "date"}
)
"""What they hold are names, settings or programs for pictures."""
_VERSIONS = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
}
_CONDITIONS = frozenset({"only", "ifconfig", "tab", "tabs", "group-tab", "container", "rst-class", "class"})
"""Their argument is a condition or a class, not text."""


@dataclass(frozen=True, slots=True)
class Directive:
    """What is left: a line, and a body that is code in ``language`` or reStructuredText (None)."""

    heading: str
    body: str
    language: str | None = None


def parse_directive(source: str) -> Directive | None:
    """What stays of a directive's source; None if nothing does, or if it is no directive."""
    found = _START.match(source)
    if found is None:
        return None
    name, argument = found[1].lower(), (found[2] or "").strip()
    if name in _SILENT:
        return None
    rest = textwrap.dedent(source[found.end() :])
    while option := _OPTION.match(rest):
        rest = rest[option.end() :]
    body = rest.strip("\n")
    if name in _CODE:
        return Directive("", body, argument.split()[0] if argument else "")
    if name in _CONDITIONS:
        return Directive("", body)
    if name in _VERSIONS:
        return Directive(f"{_VERSIONS[name]} {argument}".strip(), body)
    return Directive(argument, body)

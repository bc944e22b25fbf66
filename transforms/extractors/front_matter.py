"""Reads the front matter of a Markdown file: YAML between lines of dashes, or TOML between lines of ``+++``.

It stays in the text, which is never shortened; its fields are the document's metadata besides. What is no
mapping, or neither YAML nor TOML, is text like any other.
"""

from __future__ import annotations

import base64
import datetime
import math
import re
import tomllib
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Callable

    from transforms.model.document import JsonValue

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\A\+\+\+[ \t]*\n(.*?\n)\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
_AT_MOST = 65_536
_DEPTH_AT_MOST = 20


class _Loader(yaml.SafeLoader):
    """Without aliases: a few lines of them can stand for gigabytes. A date that no calendar has is a text."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)

    def construct_yaml_timestamp(self, node: yaml.Node) -> Any:
        return self._or_text(super().construct_yaml_timestamp, node)

    def construct_yaml_int(self, node: yaml.Node) -> Any:
        return self._or_text(super().construct_yaml_int, node)

    def _or_text(self, construct: Callable[[Any], Any], node: yaml.Node) -> Any:
        """What one value has to be, else the value as it is written: it must not cost all others."""
        try:
            return construct(node)
        except (ValueError, OverflowError):
            return node.value


_Loader.add_constructor("tag:yaml.org,2002:timestamp", _Loader.construct_yaml_timestamp)
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)


def front_matter(text: str) -> dict[str, JsonValue]:
    """The fields of a text's front matter; none where there is none that can be read."""
    head = text[:_AT_MOST]
    try:
        if found := _FRONT_MATTER.match(head):
            fields = yaml.load(found[1], Loader=_Loader)  # noqa: S506 - a safe loader
        elif found := _TOML.match(head):
            fields = tomllib.loads(found[1])
        else:
            return {}
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    if not isinstance(fields, dict):
        return {}
    return {str(name): _json(value, 0) for name, value in fields.items() if value is not None}


def title_of(fields: dict[str, JsonValue]) -> str | None:
    """The title that the fields state."""
    title = fields.get("title")
    return " ".join(title.split()) or None if isinstance(title, str) else None


def _json(value: Any, depth: int) -> JsonValue:
    """A value of YAML or TOML as JSON has it: dates in ISO form, all else that JSON lacks as text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, dict) and depth < _DEPTH_AT_MOST:
        return {str(name): _json(inner, depth + 1) for name, inner in value.items()}
    if isinstance(value, set):
        # In an order of its own: a set has another one in each process.
        value = sorted(value, key=str)
    if isinstance(value, list) and depth < _DEPTH_AT_MOST:
        return [_json(inner, depth + 1) for inner in value]
    return base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else str(value)

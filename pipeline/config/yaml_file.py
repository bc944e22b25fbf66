"""Read a YAML file of keys; what is no YAML is told by line and column, with the remedy where there is one."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import yaml

from transforms.model.errors import ConfigError, NotFoundError, StorageError
from transforms.storage.local_files import read_file

if TYPE_CHECKING:
    from pathlib import Path

_REMEDIES = (
    (r"'\t'", "A tab stands where YAML takes blanks only: use spaces."),
    ("scanning an alias", "A value that begins with * must be quoted, as in '**/*.md'."),
    ("scanning an anchor", "A value that begins with & must be quoted."),
    ("cannot start any token", "Put the value in quotes."),
    ("double-quoted scalar", "In double quotes a backslash begins an escape: use single quotes."),
    ("mapping values are not allowed", "Put a value that holds a colon in quotes, and indent keys of a group alike."),
    ("expected <block end>", "Indent the keys of a group alike, and close every quote and bracket."),
)  # fmt: skip
"""Words of the parser, and what most often helps."""
_MAX_BYTES = 16 * 2**20
_MAX_VALUES = 100_000


def read_yaml(path: Path) -> dict[str, Any]:
    """The keys of a file, UTF-8.

    Raises:
        ConfigError: the file cannot be read, is no YAML, holds no keys, or one of them twice.
    """
    try:
        raw = _parsed(_text(path))
    except yaml.MarkedYAMLError as error:
        raise ConfigError(_broken(path, error)) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        # Characters that YAML does not allow, dates that no calendar has, brackets without end.
        raise ConfigError(f"{path} is no valid YAML: {_first_line(error)}.") from None
    if raw is None:
        raise ConfigError(f"{path} is empty. It needs the keys `table` and `sources` at least.")
    if not isinstance(raw, dict):
        kind = "a list" if isinstance(raw, list) else "a single value"
        raise ConfigError(f"{path} must hold keys, such as `table:` and `sources:`, and holds {kind}.")
    return raw


def _parsed(text: str) -> object:
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        if _values(node, {}) > _MAX_VALUES:
            raise ValueError(f"it stands for more than {_MAX_VALUES:,} values; its aliases repeat too much")
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _values(node: yaml.Node, counted: dict[int, float]) -> float:
    """How many keys and values a node stands for, those behind an alias counted wherever it stands."""
    if isinstance(node, yaml.ScalarNode):
        return 1
    if id(node) not in counted:
        # What holds itself has no end.
        counted[id(node)] = math.inf
        below = node.value if isinstance(node, yaml.SequenceNode) else itertools.chain(*node.value)
        counted[id(node)] = 1 + sum(_values(one, counted) for one in below)
    return counted[id(node)]


class _Loader(yaml.SafeLoader):
    """Refuses a key that stands twice: the first one would be lost without a word."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen = set()
    for key_node, _ in node.value:
        if not isinstance(key_node, yaml.ScalarNode):
            raise yaml.MarkedYAMLError(problem="a key must be a word", problem_mark=key_node.start_mark)
        if key_node.tag != "tag:yaml.org,2002:merge" and key_node.value in seen:
            raise yaml.MarkedYAMLError(
                problem=f"the key `{key_node.value}` stands twice", problem_mark=key_node.start_mark
            )
        seen.add(key_node.value)
    loader.flatten_mapping(node)
    return dict(loader.construct_pairs(node, deep=True))


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def _text(path: Path) -> str:
    if path.is_dir():
        raise ConfigError(f"{path} is a folder; name the configuration file in it.")
    try:
        data = read_file(path, _MAX_BYTES)
    except NotFoundError:
        raise ConfigError(f"There is no configuration file {path}.") from None
    except StorageError as error:
        raise ConfigError(f"The configuration cannot be read: {error}") from None
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{path} is not UTF-8: line {line} holds the byte 0x{data[error.start]:02x}. "
            "Save the file as UTF-8."
        ) from None


def _broken(path: Path, error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    problem = str(error.problem).replace("but got '<stream end>'", "but the file ends")
    begun = _begun(error)
    remedy = next((help_ for words, help_ in _REMEDIES if words in f"{error.context} {problem}"), "")
    lines = [f"{path} is no valid YAML{where}: {problem}{begun}. {remedy}".rstrip()]
    if mark and (snippet := mark.get_snippet()):
        lines.append(snippet)
    return "\n".join(lines)


def _begun(error: yaml.MarkedYAMLError) -> str:
    if not error.context:
        return ""
    mark, at = error.context_mark, error.problem_mark
    since = f" from line {mark.line + 1} on" if mark and at and mark.line != at.line else ""
    return f" ({error.context}{since})"


def _first_line(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    return str(error).partition("\n")[0]

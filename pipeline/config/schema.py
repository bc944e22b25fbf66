"""The JSON Schema of the configuration file, and which keys stand where in it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from pipeline.config.models import JobConfig

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Schema: TypeAlias = dict[str, Any]
"""JSON Schema, or a part of it."""

DEFAULTS = "SourceDefaults"
"""Name of the part that describes ``defaults``."""


@lru_cache
def file_schema() -> Schema:
    """The schema of the whole file. ``defaults`` takes any key of a source, none of them needed."""
    document = JobConfig.model_json_schema()
    source = document["$defs"]["SourceConfig"]
    document["$defs"][DEFAULTS] = {
        **{key: value for key, value in source.items() if key != "required"},
        "title": DEFAULTS,
    }
    reference = {"$ref": f"#/$defs/{DEFAULTS}"}
    document["properties"]["defaults"] = {
        **reference,
        "description": "Any keys of a source: what each source has unless it says otherwise.",
    }
    return document


def keys_at(location: Sequence[int | str], raw: object) -> list[str]:
    """The keys that may stand in the group at a location of a file.

    Args:
        location: keys and places in lists from the top of the file.
        raw: what the file holds: it says of which kind a group is.
    """
    found = [key for part in _parts_at(location, raw) for key in part.get("properties", ())]
    return list(dict.fromkeys(found))


def kinds_at(location: Sequence[int | str], raw: object) -> list[str]:
    """The values of ``kind`` that the group at a location may have, if it is told by one."""
    kinds = (part.get("properties", {}).get("kind", {}).get("const") for part in _parts_at(location, raw))
    return [kind for kind in kinds if kind]


def groups_with(key: str) -> list[str]:
    """The groups that have a key of this name; "" is the top of the file, ``sources[]`` a source."""
    return [path for path, keys in _all_groups() if key in keys]


@lru_cache
def _all_groups() -> tuple[tuple[str, frozenset[str]], ...]:
    found: dict[str, frozenset[str]] = {}
    for path, part in _groups("", file_schema()):
        found[path] = found.get(path, frozenset()) | frozenset(part.get("properties", ()))
    return tuple(found.items())


def _parts_at(location: Sequence[int | str], raw: object) -> list[Schema]:
    parts, value = [file_schema()], raw
    for step in location:
        value = value_at(value, step)
        below = [found for part in parts if (found := _below(part, step)) is not None]
        parts = [one for part in below for one in _resolved(part)]
        kind = value.get("kind") if isinstance(value, dict) else None
        of_kind = [
            part for part in parts if part.get("properties", {}).get("kind", {}).get("const") == kind
        ]
        parts = of_kind if kind is not None and of_kind else parts
    return parts


def value_at(value: object, step: int | str) -> object:
    """What stands under one key or place; None where nothing does."""
    if isinstance(value, dict):
        return value.get(step)
    if isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
        return value[step]
    return None


def _below(part: Schema, step: int | str) -> Schema | None:
    found = part.get("items") if isinstance(step, int) else part.get("properties", {}).get(step)
    return found if isinstance(found, dict) else None


def _resolved(part: Schema) -> Iterator[Schema]:
    """A part itself, or all that it may be."""
    if "$ref" in part:
        yield from _resolved(file_schema()["$defs"][str(part["$ref"]).rsplit("/", 1)[-1]])
        return
    several = [*part.get("anyOf", ()), *part.get("oneOf", ())]
    for one in several:
        yield from _resolved(one)
    if not several:
        yield part


def _groups(path: str, part: Schema) -> Iterator[tuple[str, Schema]]:
    yield path, part
    for key, value in part.get("properties", {}).items():
        if key == "defaults":
            continue
        for below in _resolved(value):
            where = f"{path}.{key}" if path else key
            if "properties" in below:
                yield from _groups(where, below)
            for item in _resolved(below.get("items", {})) if isinstance(below.get("items"), dict) else ():
                if "properties" in item:
                    yield from _groups(f"{where}[]", item)

"""Read a configuration file and say everything that is wrong with it at once.

Sources inherit the keys of ``defaults`` one by one, nested ones too. ``${NAME}`` in a text stands for an
environment variable; messages show the reference and never the value, which may be a secret.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import ValidationError

from pipeline.config.models import JobConfig
from transforms.model.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_MAX_SHOWN = 80


def load_config(path: str | Path, env: Mapping[str, str] | None = None) -> JobConfig:
    """The checked configuration of a YAML file.

    Args:
        path: the file, UTF-8.
        env: the variables that ``${NAME}`` refers to; those of the process by default.

    Raises:
        ConfigError: the file cannot be read, is no YAML, or breaks a rule. The message has one line a
            fault: the path of the key, the rule and the value.
    """
    raw = _read(Path(path))
    faults: list[str] = []
    expanded = _expand(raw, os.environ if env is None else env, "", faults)
    if faults:
        raise _config_error(path, faults)
    merged = _with_defaults(expanded, path)
    try:
        return JobConfig.model_validate(merged)
    except ValidationError as error:
        raise _config_error(path, _faults(error, raw)) from None


class _Loader(yaml.SafeLoader):
    """Refuses a key that stands twice: the first one would be lost without a word."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen = set()
    for key_node, _ in node.value:
        if key_node.tag != "tag:yaml.org,2002:merge" and key_node.value in seen:
            raise yaml.MarkedYAMLError(
                problem=f"the key `{key_node.value}` stands twice", problem_mark=key_node.start_mark
            )
        seen.add(key_node.value)
    loader.flatten_mapping(node)
    return dict(loader.construct_pairs(node, deep=True))


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"There is no configuration file {path}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The configuration {path} cannot be read: {error}") from error
    try:
        raw = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is no valid YAML: {error}") from error
    if not isinstance(raw, dict):
        raise ConfigError(f"{path} must hold keys such as `table` and `sources`, not {type(raw).__name__}.")
    return raw


def _expand(value: Any, env: Mapping[str, str], where: str, faults: list[str]) -> Any:
    if isinstance(value, dict):
        return {
            key: _expand(item, env, f"{where}.{key}" if where else str(key), faults)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_expand(item, env, f"{where}[{i}]", faults) for i, item in enumerate(value)]
    if not isinstance(value, str):
        return value
    missing = sorted({name for name in _REFERENCE.findall(value) if name not in env})
    faults.extend(f"{where}: the environment variable {name} is not set" for name in missing)
    return _REFERENCE.sub(lambda match: env.get(match[1], ""), value)


def _with_defaults(raw: dict[str, Any], path: str | Path) -> dict[str, Any]:
    defaults = raw.get("defaults") or {}
    sources = raw.get("sources")
    if not isinstance(defaults, dict):
        raise _config_error(path, ["defaults: must hold keys of a source"])
    if isinstance(sources, list):
        sources = [_merge(defaults, s) if isinstance(s, dict) else s for s in sources]
    return {key: item for key, item in raw.items() if key != "defaults"} | {"sources": sources}


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        both = isinstance(below, dict) and isinstance(value, dict)
        merged[key] = _merge(below, value) if both else value  # type: ignore[arg-type]
    return merged


def _faults(error: ValidationError, raw: dict[str, Any]) -> list[str]:
    """One line a fault; a key that came from the defaults is named there, once."""
    lines: dict[str, None] = {}
    for fault in error.errors(include_url=False):
        location = _written_location(fault["loc"], raw)
        value = _lookup(raw, location)
        message = fault["msg"].removeprefix("Value error, ")
        got = "" if isinstance(value, dict | list) or value is _ABSENT else f" (got {_shown(value)})"
        lines[f"{_dotted(location)}: {message}{got}"] = None
    return list(lines)


_ABSENT = object()


def _lookup(raw: Any, location: Sequence[int | str]) -> Any:
    for step in location:
        try:
            raw = raw[step]
        except (KeyError, IndexError, TypeError):
            return _ABSENT
    return raw


def _written_location(loc: tuple[int | str, ...], raw: dict[str, Any]) -> tuple[int | str, ...]:
    if len(loc) > 2 and loc[0] == "sources" and _lookup(raw, loc) is _ABSENT:
        inherited = ("defaults", *loc[2:])
        if _lookup(raw, inherited) is not _ABSENT:
            return inherited
    return loc


def _dotted(location: Sequence[int | str]) -> str:
    text = ""
    for step in location:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text or "the file"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"


def _config_error(path: str | Path, faults: list[str]) -> ConfigError:
    return ConfigError("\n".join([f"{path} cannot be used:", *(f"  {fault}" for fault in faults)]))

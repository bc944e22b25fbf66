"""Read a configuration file and say everything that is wrong with it at once.

Sources inherit the keys of ``defaults`` one by one, nested ones too. ``${NAME}`` in a text stands for an
environment variable; messages show the reference and never the value, which may be a secret.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from pipeline.config.faults import dotted, faults_of
from pipeline.config.models import JobConfig
from pipeline.config.yaml_file import read_yaml
from transforms.model.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pipeline.config.faults import Location

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET_FROM = 4
"""Characters of a value that is hidden; shorter ones stand in any sentence."""


def load_config(path: str | Path, env: Mapping[str, str] | None = None) -> JobConfig:
    """The checked configuration of a YAML file.

    Args:
        path: the file, UTF-8.
        env: the variables that ``${NAME}`` refers to; those of the process by default.

    Raises:
        ConfigError: the file cannot be read, is no YAML, or breaks a rule. The message has one line a
            fault: the path of the key, the rule and the value.
    """
    raw = read_yaml(Path(path))
    unset: dict[Location, str] = {}
    variables = os.environ if env is None else env
    whole = expanded(raw, variables, (), unset)
    faults: dict[Location, str] = {}
    try:
        job = JobConfig.model_validate(_with_defaults(whole, path))
    except ValidationError as error:
        faults = {place: hidden(line, raw, variables) for place, line in faults_of(error, raw).items()}
    else:
        if not unset:
            return job
    raise _config_error(path, (faults | unset).values())


def expanded(value: Any, env: Mapping[str, str], where: Location, unset: dict[Location, str]) -> Any:
    """The value with its references resolved; one that is not set stays, and is told."""
    if isinstance(value, dict):
        return {key: expanded(item, env, (*where, key), unset) for key, item in value.items()}
    if isinstance(value, list):
        return [expanded(item, env, (*where, i), unset) for i, item in enumerate(value)]
    if not isinstance(value, str):
        return value
    missing = sorted({name for name in _REFERENCE.findall(value) if name not in env})
    if missing:
        unset[where] = f"{dotted(where)}: {_not_set(missing)}"
    return _REFERENCE.sub(lambda match: env.get(match[1], match[0]), value)


def hidden(line: str, raw: object, env: Mapping[str, str]) -> str:
    """The line with references in place of what they stand for: a rule may have quoted it."""
    for name in set(_REFERENCE.findall(str(raw))):
        if len(env.get(name, "")) >= _SECRET_FROM:
            line = line.replace(env[name], f"${{{name}}}")
    return line


def _not_set(names: Sequence[str]) -> str:
    one = len(names) == 1
    return (
        f"the environment variable{'' if one else 's'} {', '.join(names)} {'is' if one else 'are'} not set"
    )


def _with_defaults(raw: dict[str, Any], path: str | Path) -> dict[str, Any]:
    defaults = raw.get("defaults") or {}
    if not isinstance(defaults, dict):
        raise _config_error(path, ["defaults: must be keys with values"])
    whole = {key: item for key, item in raw.items() if key != "defaults"}
    if isinstance(whole.get("sources"), list):
        whole["sources"] = [merged(defaults, s) if isinstance(s, dict) else s for s in whole["sources"]]
    return whole


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of ``base`` with those of ``over`` laid over them, groups key by key."""
    result = dict(base)
    for key, value in over.items():
        below = result.get(key)
        both = isinstance(below, dict) and isinstance(value, dict)
        result[key] = merged(below, value) if both else value  # type: ignore[arg-type]
    return result


def _config_error(path: str | Path, faults: Iterable[str]) -> ConfigError:
    return ConfigError("\n".join([f"{path} cannot be used:", *(f"  {fault}" for fault in faults)]))

"""The settings of a load: from the command line, or from a YAML file with what the command line says laid over it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from pipeline.config.faults import line_of
from pipeline.config.load import expanded, hidden
from pipeline.config.yaml_file import read_yaml
from transforms.loaders.settings import LoadSettings
from transforms.model.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipeline.config.faults import Location

_FILE = re.compile(r"(?i).*\.ya?ml")


def load_settings(to: str, said: Mapping[str, Any], env: Mapping[str, str] | None = None) -> LoadSettings:
    """The checked settings.

    Args:
        to: the address of a store, or a YAML file with the keys of :class:`LoadSettings`.
        said: keys that the command line gives; they win over those of the file.
        env: the variables that ``${NAME}`` in the file refers to; those of the process by default.

    Raises:
        ConfigError: the file cannot be read, or a rule is broken: one line a fault.
    """
    is_file = _FILE.fullmatch(to) is not None
    raw = read_yaml(Path(to)) if is_file else {"to": to}
    variables = os.environ if env is None else env
    unset: dict[Location, str] = {}
    whole = expanded(raw, variables, (), unset) | dict(said)
    lines = list(unset.values())
    try:
        settings = LoadSettings.model_validate(whole)
    except ValidationError as error:
        lines += [
            hidden(line_of(fault, LoadSettings.model_fields), raw, variables)
            for fault in error.errors(include_url=False)
        ]
    else:
        if not lines:
            return settings
    head = f"{to} cannot be used:" if is_file else "This load cannot be done:"
    raise ConfigError("\n".join([head, *(f"  {line}" for line in lines)]))

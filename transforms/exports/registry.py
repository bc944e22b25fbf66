"""Which profile has which name."""

from __future__ import annotations

import difflib
import importlib
from typing import TYPE_CHECKING, cast

from transforms.model.errors import ConfigError

if TYPE_CHECKING:
    from transforms.exports.profile import Profile

_MODULES = {
    "azure-search": "azure_search",
    "bigquery": "bigquery",
    "delta": "delta",
    "milvus": "milvus",
    "opensearch": "opensearch",
    "pgcopy": "pgcopy",
    "pinecone": "pinecone",
    "s3-vectors": "s3_vectors",
    "snowflake": "snowflake",
    "turbopuffer": "turbopuffer",
    "vdf": "vdf",
    "vertex": "vertex",
    "vespa": "vespa",
}
NAMES = tuple(_MODULES)


def find_profile(name: str) -> Profile:
    """The profile of that name.

    Raises:
        ConfigError: there is none.
    """
    if name not in _MODULES:
        near = difflib.get_close_matches(name, NAMES, 1)
        meant = f"; did you mean {near[0]}?" if near else "."
        raise ConfigError(f"There is no profile {name}{meant} There are {', '.join(NAMES)}.")
    module = importlib.import_module(f"transforms.exports.{_MODULES[name]}")
    return cast("Profile", module.PROFILE)

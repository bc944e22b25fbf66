"""Which loader serves which scheme. Vendors' libraries are imported when one is asked for.

A loader is a module with one function ``connect(address: Address) -> Loader``.
"""

from __future__ import annotations

import difflib
import importlib
from typing import TYPE_CHECKING, Protocol, cast

from transforms.model.errors import ConfigError, ParquetryError, StorageError

if TYPE_CHECKING:
    from transforms.loaders.address import Address
    from transforms.loaders.protocol import Loader

_MODULES = {
    "chroma": "transforms.loaders.chroma",
    "chdb": "transforms.loaders.clickhouse",
    "clickhouse": "transforms.loaders.clickhouse",
    "duckdb": "transforms.loaders.duckdb",
    "elasticsearch": "transforms.loaders.elasticsearch",
    "faiss": "transforms.loaders.faiss",
    "lancedb": "transforms.loaders.lancedb",
    "milvus": "transforms.loaders.milvus",
    "opensearch": "transforms.loaders.opensearch",
    "postgres": "transforms.loaders.postgres",
    "postgresql": "transforms.loaders.postgres",
    "qdrant": "transforms.loaders.qdrant",
    "redis": "transforms.loaders.redis",
    "sqlite": "transforms.loaders.sqlite",
    "usearch": "transforms.loaders.usearch",
}
SCHEMES = tuple(sorted(_MODULES))


class _Module(Protocol):
    def connect(self, address: Address) -> Loader: ...


def open_loader(address: Address) -> Loader:
    """The store at an address, connected.

    Raises:
        ConfigError: no loader has that scheme, or its packages are not installed.
        StorageError: it does not answer, or refuses.
    """
    if address.scheme not in _MODULES:
        near = difflib.get_close_matches(address.scheme, SCHEMES, 1)
        meant = f"; did you mean {near[0]}:?" if near else "."
        raise ConfigError(
            f"There is no loader for {address.scheme}:{meant} There are {', '.join(SCHEMES)}."
        )
    try:
        module = cast("_Module", importlib.import_module(_MODULES[address.scheme]))
        return module.connect(address)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"{address.scheme}: needs the package {error.name}, which is not installed: "
            "pip install 'parquetry[stores]' brings those of all stores."
        ) from error
    except ParquetryError:
        raise
    except Exception as error:  # whatever a vendor's library raises where it cannot connect
        raise StorageError(f"{address.shown} cannot be opened: {address.said(error)}.") from error

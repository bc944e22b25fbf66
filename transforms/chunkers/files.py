"""Read a file that the settings name: a local path, or an object of any store."""

from __future__ import annotations

from transforms.model.errors import ConfigError, StorageError
from transforms.storage.registry import open_store


def read_file(uri: str) -> bytes:
    """Its bytes.

    Raises:
        ConfigError: it cannot be read; the message says why.
    """
    root, _, name = uri.rpartition("/")
    try:
        return open_store(root or ("/" if uri.startswith("/") else ".")).read(name)
    except StorageError as error:
        raise ConfigError(f"{uri} cannot be read: {error}") from error

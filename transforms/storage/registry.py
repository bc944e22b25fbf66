"""Which store serves which root."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from transforms.model.errors import ConfigError

if TYPE_CHECKING:
    from transforms.storage.protocol import Store


@lru_cache(maxsize=256)
def open_store(root: str) -> Store:
    """The store of a local path, ``file://``, ``gs://`` or ``s3://``; one a process and root.

    Raises:
        ConfigError: no store serves such a root.
    """
    scheme, mark, _ = root.partition("://")
    if not mark or scheme == "file":
        from transforms.storage.local import LocalStore

        return LocalStore(root)
    if scheme == "gs":
        from transforms.storage.gcs import GcsStore

        return GcsStore(root)
    if scheme == "s3":
        from transforms.storage.s3 import S3Store

        return S3Store(root)
    raise ConfigError(f"{root}: there is no store for {scheme}://; use a local folder, gs:// or s3://.")

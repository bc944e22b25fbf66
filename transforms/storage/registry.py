"""Which store serves which root."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from transforms.storage.roots import normal_root

if TYPE_CHECKING:
    from transforms.storage.protocol import Store


@lru_cache(maxsize=256)
def open_store(root: str) -> Store:
    """The store of a local path, ``file://`` or a bucket; one a process and root.

    Raises:
        ConfigError: the root names no place, or no store serves it.
    """
    root = normal_root(root)
    if root.startswith("gs://"):
        from transforms.storage.gcs import GcsStore

        return GcsStore(root)
    if root.startswith("s3://"):
        from transforms.storage.s3 import S3Store

        return S3Store(root)
    if root.startswith(("az://", "abfss://")):
        from transforms.storage.azure import AzureStore

        return AzureStore(root)
    from transforms.storage.local import LocalStore

    return LocalStore(root)

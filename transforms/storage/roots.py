"""A root in a bucket, taken apart: ``scheme://bucket/folder``, nothing in it escaped or interpreted."""

from __future__ import annotations

from transforms.model.errors import ConfigError


def split_root(root: str, scheme: str) -> tuple[str, str]:
    """The bucket, and what the names of all objects begin with: "" or a folder with its slash.

    Raises:
        ConfigError: the root names no bucket.
    """
    bucket, _, folder = root.removeprefix(f"{scheme}://").partition("/")
    if not bucket:
        raise ConfigError(f"{root} names no bucket; write {scheme}://BUCKET/FOLDER.")
    folder = folder.rstrip("/")
    return bucket, f"{folder}/" if folder else ""

"""A model's files: read whole, and only if they are the ones that the recipe names."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from transforms.model.errors import ParquetryError

if TYPE_CHECKING:
    from pathlib import Path


def read_pinned(path: Path, sha256: str) -> bytes:
    """The bytes of a model's file, whose SHA-256 must be the given one.

    Raises:
        ParquetryError: the file is not there, or is another one: its vectors would not be comparable
            with those that a table has under the model's name.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ParquetryError(f"the model's file {path} cannot be read: {error.strerror}") from error
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise ParquetryError(
            f"the model's file {path} is not the one expected: its SHA-256 begins with {found[:12]}, "
            f"not {sha256[:12]}; install the package again"
        )
    return data

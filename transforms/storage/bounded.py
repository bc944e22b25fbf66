"""Bytes that arrive, up to a limit: no answer of a store fills the memory, whatever its header said."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from transforms.model.errors import TooLargeError

if TYPE_CHECKING:
    from typing_extensions import Buffer


class BoundedBuffer(io.BytesIO):
    """A buffer to download into. Going over ``limit`` bytes raises TooLargeError, which names ``where``."""

    def __init__(self, limit: int | None, where: str) -> None:
        super().__init__()
        self._limit = limit
        self._where = where

    def write(self, data: Buffer, /) -> int:
        if self._limit is not None and self.tell() + memoryview(data).nbytes > self._limit:
            raise TooLargeError(f"{self._where} has more than {self._limit:,} bytes.")
        return super().write(data)

"""Deaths at a chosen operation on storage: from then on nothing that the process asks of a disk happens."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING
from unittest import mock

from transforms.storage import local
from transforms.storage.local import LocalStore
from transforms.table import lease

if TYPE_CHECKING:
    from collections.abc import Iterator

OPERATIONS = ("list", "level", "stat", "read", "open", "write", "create", "replace", "copy", "delete")


class DiedError(BaseException):
    """No error of the program: nothing handles it."""


class Deaths:
    """Counts operations while ``at`` holds; processes of the tests have lives, as their claims show."""

    def __init__(self) -> None:
        self.done = 0
        self._left: int | None = None
        self._life = 0

    @contextlib.contextmanager
    def possible(self) -> Iterator[None]:
        """Within the block the store can die."""
        with contextlib.ExitStack() as stack:
            for name in OPERATIONS:
                stack.enter_context(
                    mock.patch.object(LocalStore, name, self._counted(getattr(LocalStore, name)))
                )
            # Between the bytes on disk and the name that readers see them under.
            stack.enter_context(mock.patch.object(local, "move", self._counted(local.move)))
            stack.enter_context(mock.patch.object(lease, "_started", self._started))
            # A process that dies loses nothing that the system has taken: waiting for the disk tests nothing.
            stack.enter_context(mock.patch("os.fsync"))
            yield

    def at(self, operation: int | None) -> None:
        """Die before the operation of that number, counted from now; None: live."""
        self.done = 0
        self._left = operation

    def bury(self) -> None:
        """The process is gone, and the next one lives."""
        self._left = None
        self._life += 1

    def _started(self, pid: int) -> str:
        """When a process began, as claims have it: one of an earlier life is gone."""
        return f"life {self._life}"

    def _counted(self, method):  # type: ignore[no-untyped-def]
        def counted(*args, **options):  # type: ignore[no-untyped-def]
            self.done += 1
            if self._left is not None and self.done > self._left:
                raise DiedError
            return method(*args, **options)

        return counted

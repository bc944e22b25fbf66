"""A folder on this machine as a store.

A lock file guards compare-and-swap, which a disk does not offer; creation is a hard link, which exactly one of many
writers can make. ``local_files`` says how files are read and written, ``local_walk`` which of them are listed.
"""

from __future__ import annotations

import os
import shutil
import stat as st
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from filelock import FileLock

from transforms.model.errors import NotFoundError, PreconditionError, StorageError, TooLargeError
from transforms.storage.local_files import (
    OURS,
    as_ours,
    beside,
    content_of,
    move,
    open_handle,
    open_regular,
    remove_left_behind,
    sync,
    translated,
    version_of,
    written,
)
from transforms.storage.local_walk import encodes, entries_of, entry_of, info_of, is_escaped, walk
from transforms.storage.protocol import Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from transforms.model.objects import ObjectInfo

PAGE = 1_000
_LOCK_SECONDS = 30
_NO_SEGMENTS = frozenset(("", ".", ".."))


class LocalStore:
    """Objects are the files below a folder, given as a path or as ``file://`` and a path, unescaped."""

    lists_apart = False

    def __init__(self, root: str) -> None:
        self.root = root
        self._folder = Path(root.removeprefix("file://"))

    def uri(self, name: str) -> str:
        """The root as configured, and the name."""
        return f"{self.root.rstrip('/')}/{name}"

    def exists_root(self) -> bool:
        return self._folder.is_dir()

    def list(self, prefix: str = "") -> Iterator[list[ObjectInfo]]:
        page: list[ObjectInfo] = []
        with self._translated(prefix):
            start = self._start(prefix)
            place = self._identity()
            for info in walk(*start, prefix):
                page.append(info)
                if len(page) == PAGE:
                    yield page
                    page = []
            # What vanishes meanwhile has been deleted, but not if all of it does, as with a disk that is gone.
            if self._identity() != place:
                raise StorageError(f"{self.root} was exchanged for another folder while it was listed.")
        if page:
            yield page

    def level(self, prefix: str = "") -> Level:
        with self._translated(prefix):
            entries = [
                (name, path)
                for name, path in entries_of(*self._start(prefix))
                if name.startswith(prefix) and name != prefix
            ]
            found = [entry_of(path, name) for name, path in entries if not name.endswith("/")]
        return Level(
            tuple(name for name, _ in entries if name.endswith("/")),
            tuple(info for info in found if info is not None),
        )

    def stat(self, name: str) -> ObjectInfo | None:
        with self._translated(name):
            try:
                facts = self._path(name).stat()
            except (FileNotFoundError, NotADirectoryError):
                return None
        return info_of(name, facts) if st.S_ISREG(facts.st_mode) else None

    def read(self, name: str, token: str | None = None, limit: int | None = None) -> bytes:
        # Millions of small files: no path and no file as an object, and no context made by a generator.
        try:
            handle, before = open_handle(self._place(name))
            try:
                data = content_of(handle, before.st_size, limit)
                after = os.fstat(handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise as_ours(error, self.uri(name)) from error
        if limit is not None and len(data) > limit:
            raise TooLargeError(f"{self.uri(name)} has more than {limit:,} bytes.")
        versions = {version_of(before), version_of(after)} | ({token} if token else set())
        if len(versions) > 1:
            raise PreconditionError(f"{self.uri(name)} changed after it was listed.")
        return data

    def open(self, name: str) -> BinaryIO:
        with self._translated(name):
            return open_regular(self._path(name))

    def write(self, name: str, data: bytes) -> None:
        path = self._path(name)
        with self._translated(name), written(path, data) as temporary:
            move(temporary, path)

    def create(self, name: str, data: bytes) -> str:
        path = self._path(name)
        with self._translated(name), written(path, data) as temporary:
            token = version_of(temporary.stat())
            try:
                os.link(temporary, path)
            except FileExistsError:
                raise PreconditionError(f"{self.uri(name)} exists already.") from None
            sync(path.parent)
            return token

    def replace(self, name: str, data: bytes, token: str) -> str:
        path = self._path(name)
        refusal = PreconditionError(f"{self.uri(name)} was changed by another writer, or is gone.")
        if self.stat(name) is None:
            raise refusal
        with self._translated(name), FileLock(self._folder / f"{OURS}lock", timeout=_LOCK_SECONDS):
            now = self.stat(name)
            if now is None or now.token != token:
                raise refusal
            with written(path, data) as temporary:
                new = move(temporary, path)
            sync(path.parent)
            return new

    def copy(self, source: str, target: str) -> None:
        origin, path = self._path(source), self._path(target)
        with self._translated(source):
            if not origin.is_file():
                raise NotFoundError(f"There is no {self.uri(source)}.")
            with beside(path) as temporary:
                try:
                    os.link(origin, temporary)
                except OSError:
                    # Another file system, or one without links, or too many of them.
                    shutil.copyfile(origin, temporary)
                # A rename onto a link of the same file does nothing, and leaves the temporary name.
                temporary.replace(path)

    def delete(self, names: Iterable[str]) -> None:
        for name in names:
            path = self._path(name)
            with self._translated(name):
                try:
                    path.unlink(missing_ok=True)
                except NotADirectoryError:
                    continue
                self._remove_empty(path.parent)

    def _remove_empty(self, folder: Path) -> None:
        """Folders exist for their files only, as in a bucket."""
        while folder != self._folder and folder.is_relative_to(self._folder):
            try:
                remove_left_behind(folder)
                folder.rmdir()
            except OSError:
                return
            folder = folder.parent

    def _start(self, prefix: str) -> tuple[Path, str]:
        """The folder in which a prefix begins, and that folder's own name with its slash."""
        if not self.exists_root():
            raise NotFoundError(f"There is no folder {self.root}.")
        folder = prefix.rpartition("/")[0]
        return (self._path(folder), f"{folder}/") if folder else (self._folder, "")

    def _identity(self) -> tuple[int, int]:
        facts = self._folder.stat()
        return facts.st_dev, facts.st_ino

    def _path(self, name: str) -> Path:
        return Path(self._place(name))

    def _place(self, name: str) -> str:
        if is_escaped(name):
            raise StorageError(
                f"{self.uri(name)} has a name that is not UTF-8, shown escaped here; rename it."
            )
        segments = name.split("/")
        refused = "\0" in name or not _NO_SEGMENTS.isdisjoint(segments) or not encodes(name)
        if refused or segments[-1].startswith(OURS):
            raise StorageError(f"{name!r} is no name that a folder can hold below {self.root}.")
        return os.path.join(self._folder, name)  # noqa: PTH118 - a path as an object costs more than a small file

    @contextmanager
    def _translated(self, name: str) -> Iterator[None]:
        with translated(self.uri(name)):
            yield

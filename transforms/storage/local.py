"""A folder on this machine as a store.

A version is size and modification time in nanoseconds. Writes go to a temporary file beside the target,
reach the disk, and are renamed; a lock file guards compare-and-swap, which a disk does not offer.
Symbolic links are read as what they point to; folders behind links are not entered, so no listing is
endless. Names of temporary files begin with ``.parquetry-`` and are never listed.
"""

from __future__ import annotations

import os
import shutil
import stat as st
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from filelock import FileLock

from transforms.model.errors import NotFoundError, PreconditionError, StorageError, TooLargeError
from transforms.model.objects import ObjectInfo

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PAGE = 1_000
_OURS = ".parquetry-"


class LocalStore:
    """Objects are the files below a folder."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._folder = Path(root.removeprefix("file://"))

    def uri(self, name: str) -> str:
        """The root as configured, and the name."""
        return f"{self.root.rstrip('/')}/{name}"

    def exists_root(self) -> bool:
        return self._folder.is_dir()

    def list(self, prefix: str = "") -> Iterator[list[ObjectInfo]]:
        folder = prefix.rpartition("/")[0]
        start = self._path(folder) if folder else self._folder
        with self._translated(prefix):
            found = sorted(
                (
                    info
                    for info in _walk(start, f"{folder}/" if folder else "")
                    if info.name.startswith(prefix)
                ),
                key=lambda info: info.name,
            )
        for first in range(0, len(found), PAGE):
            yield found[first : first + PAGE]

    def stat(self, name: str) -> ObjectInfo | None:
        with self._translated(name):
            try:
                facts = self._path(name).stat()
            except (FileNotFoundError, NotADirectoryError):
                return None
        return _info(name, facts) if st.S_ISREG(facts.st_mode) else None

    def read(self, name: str, token: str | None = None, limit: int | None = None) -> bytes:
        with self._translated(name), self._path(name).open("rb") as file:
            facts = os.fstat(file.fileno())
            if not st.S_ISREG(facts.st_mode):
                raise StorageError(f"{self.uri(name)} is no regular file.")
            data = file.read() if limit is None else file.read(limit + 1)
            after = os.fstat(file.fileno())
        if limit is not None and len(data) > limit:
            raise TooLargeError(f"{self.uri(name)} has more than {limit:,} bytes.")
        versions = {_token(facts), _token(after)} | ({token} if token else set())
        if len(versions) > 1:
            raise PreconditionError(f"{self.uri(name)} changed after it was listed.")
        return data

    def open(self, name: str) -> BinaryIO:
        with self._translated(name):
            return self._path(name).open("rb")

    def write(self, name: str, data: bytes) -> None:
        with self._translated(name), _written(self._path(name), data) as temporary:
            temporary.replace(self._path(name))

    def create(self, name: str, data: bytes) -> str:
        path = self._path(name)
        with self._translated(name), _written(path, data) as temporary:
            try:
                os.link(temporary, path)
            except FileExistsError:
                raise PreconditionError(f"{self.uri(name)} exists already.") from None
            return _token(path.stat())

    def replace(self, name: str, data: bytes, token: str) -> str:
        path = self._path(name)
        with self._translated(name), FileLock(path.with_name(f"{_OURS}{path.name}.lock"), timeout=30):
            now = self.stat(name)
            if now is None or now.token != token:
                raise PreconditionError(f"{self.uri(name)} was changed by another writer.")
            self.write(name, data)
            return _token(path.stat())

    def copy(self, source: str, target: str) -> None:
        origin, path = self._path(source), self._path(target)
        with self._translated(source):
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = _beside(path)
            try:
                os.link(origin, temporary)
            except FileNotFoundError:
                raise
            except OSError:
                # Another file system, or one without links.
                shutil.copyfile(origin, temporary)
            # A rename onto a link of the same file does nothing, and leaves the temporary name.
            temporary.replace(path)
            temporary.unlink(missing_ok=True)

    def delete(self, names: Iterable[str]) -> None:
        for name in names:
            path = self._path(name)
            with self._translated(name):
                path.unlink(missing_ok=True)
                self._remove_empty(path.parent)

    def _remove_empty(self, folder: Path) -> None:
        """Folders exist for their files only, as in a bucket."""
        while folder != self._folder and folder.is_relative_to(self._folder):
            try:
                folder.rmdir()
            except OSError:
                return
            folder = folder.parent

    def _path(self, name: str) -> Path:
        segments = name.split("/")
        if not name or "\0" in name or any(part in ("", ".", "..") for part in segments):
            raise StorageError(f"{name!r} is no name that a folder can hold below {self.root}.")
        return self._folder.joinpath(*segments)

    @contextmanager
    def _translated(self, name: str) -> Iterator[None]:
        """Turn the system's errors into ours, once."""
        try:
            yield
        except (FileNotFoundError, NotADirectoryError) as error:
            raise NotFoundError(f"There is no {self.uri(name)}.") from error
        except OSError as error:
            raise StorageError(f"{self.uri(name)}: {error.strerror or error}.") from error


def _walk(folder: Path, prefix: str) -> Iterator[ObjectInfo]:
    """Every file below a folder, as its name. An unreadable folder raises: the listing is not complete."""
    pending = [(str(folder), prefix)]
    while pending:
        path, before = pending.pop()
        try:
            entries = list(os.scandir(path))
        except FileNotFoundError:
            if path == str(folder):
                return
            raise
        for entry in entries:
            # Bytes that are no UTF-8 cannot be a name in a table: shown escaped, refused when it is read.
            name = before + entry.name.encode("utf-8", "backslashreplace").decode()
            if entry.is_dir(follow_symlinks=False):
                pending.append((entry.path, name + "/"))
            elif not entry.name.startswith(_OURS):
                info = _entry(entry, name)
                if info is not None:
                    yield info


def _entry(entry: os.DirEntry[str], name: str) -> ObjectInfo | None:
    try:
        facts = entry.stat()
    except FileNotFoundError:
        # Deleted since, or a link to nothing.
        return None
    return _info(name, facts) if st.S_ISREG(facts.st_mode) else None


def _info(name: str, facts: os.stat_result) -> ObjectInfo:
    return ObjectInfo(name, facts.st_size, _token(facts))


def _token(facts: os.stat_result) -> str:
    return f"{facts.st_size}-{facts.st_mtime_ns}"


def _beside(path: Path) -> Path:
    return path.with_name(f"{_OURS}{uuid.uuid4().hex}")


@contextmanager
def _written(path: Path, data: bytes) -> Iterator[Path]:
    """A temporary file beside ``path`` with ``data`` safely on disk; gone at the end, if still there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _beside(path)
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)

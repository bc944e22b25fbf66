"""A folder on this machine as a store.

A version is size and modification time in nanoseconds. Writes go to a temporary file beside the target,
reach the disk, and are renamed; a lock file guards compare-and-swap, which a disk does not offer.
Every write here moves the time on, however coarse the clock, so that no version ever comes back.
Symbolic links are read as what they point to; folders behind links are not entered, so no listing is
endless and none leaves the folder that way. Names of our own files begin with ``.parquetry-`` and are
never listed.
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
from transforms.storage.protocol import Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PAGE = 1_000
_OURS = ".parquetry-"
_LOCK_SECONDS = 30
_TRIES = 5


class LocalStore:
    """Objects are the files below a folder, given as a path or as ``file://`` and a path, unescaped."""

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
            for info in _walk(*self._start(prefix), prefix):
                page.append(info)
                if len(page) == PAGE:
                    yield page
                    page = []
        if page:
            yield page

    def level(self, prefix: str = "") -> Level:
        with self._translated(prefix):
            entries = [
                (name, entry)
                for name, entry in _entries(*self._start(prefix))
                if name.startswith(prefix) and name != prefix
            ]
            found = [_entry(entry, name) for name, entry in entries if not name.endswith("/")]
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
        return _info(name, facts) if st.S_ISREG(facts.st_mode) else None

    def read(self, name: str, token: str | None = None, limit: int | None = None) -> bytes:
        with self._translated(name), self.open(name) as file:
            before = os.fstat(file.fileno())
            data = file.read() if limit is None else file.read(limit + 1)
            after = os.fstat(file.fileno())
        if limit is not None and len(data) > limit:
            raise TooLargeError(f"{self.uri(name)} has more than {limit:,} bytes.")
        versions = {_token(before), _token(after)} | ({token} if token else set())
        if len(versions) > 1:
            raise PreconditionError(f"{self.uri(name)} changed after it was listed.")
        return data

    def open(self, name: str) -> BinaryIO:
        with self._translated(name):
            # Without O_NONBLOCK a pipe would wait for its other end.
            handle = os.open(self._path(name), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
            if not st.S_ISREG(os.fstat(handle).st_mode):
                os.close(handle)
                raise NotFoundError(f"{self.uri(name)} is no regular file.")
            return os.fdopen(handle, "rb")

    def write(self, name: str, data: bytes) -> None:
        path = self._path(name)
        with self._translated(name), _written(path, data) as temporary:
            _move(temporary, path)

    def create(self, name: str, data: bytes) -> str:
        path = self._path(name)
        with self._translated(name), _written(path, data) as temporary:
            token = _token(temporary.stat())
            try:
                os.link(temporary, path)
            except FileExistsError:
                raise PreconditionError(f"{self.uri(name)} exists already.") from None
            _sync(path.parent)
            return token

    def replace(self, name: str, data: bytes, token: str) -> str:
        path = self._path(name)
        refusal = PreconditionError(f"{self.uri(name)} was changed by another writer, or is gone.")
        if self.stat(name) is None:
            raise refusal
        with self._translated(name), FileLock(self._folder / f"{_OURS}lock", timeout=_LOCK_SECONDS):
            now = self.stat(name)
            if now is None or now.token != token:
                raise refusal
            with _written(path, data) as temporary:
                new = _move(temporary, path)
            _sync(path.parent)
            return new

    def copy(self, source: str, target: str) -> None:
        origin, path = self._path(source), self._path(target)
        with self._translated(source):
            if not origin.is_file():
                raise NotFoundError(f"There is no {self.uri(source)}.")
            with _beside(path) as temporary:
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

    def _path(self, name: str) -> Path:
        segments = name.split("/")
        refused = "\0" in name or any(part in ("", ".", "..") for part in segments) or not _encodes(name)
        if refused or segments[-1].startswith(_OURS):
            raise StorageError(f"{name!r} is no name that a folder can hold below {self.root}.")
        return self._folder.joinpath(*segments)

    @contextmanager
    def _translated(self, name: str) -> Iterator[None]:
        """Turn the system's errors into ours, once."""
        try:
            yield
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
            raise NotFoundError(f"There is no {self.uri(name)}.") from error
        except OSError as error:
            where = error.filename if isinstance(error, PermissionError) else self.uri(name)
            raise StorageError(f"{where}: {error.strerror or error}.") from error


def _walk(folder: Path, before: str, prefix: str) -> Iterator[ObjectInfo]:
    """Every file below a folder whose name begins with ``prefix``, in the order of the names.

    A folder counts with its slash, and so a walk in the order of each folder's entries is one in the order
    of whole names. What cannot be read raises: the listing would not be complete.
    """
    open_folders = [iter(_entries(folder, before))]
    while open_folders:
        name, entry = next(open_folders[-1], (None, None))
        if name is None or entry is None:
            open_folders.pop()
        elif not name.startswith(prefix):
            continue
        elif name.endswith("/"):
            try:
                open_folders.append(iter(_entries(Path(entry.path), name, missing_ok=False)))
            except FileNotFoundError as error:
                raise StorageError(f"{entry.path} vanished while it was listed.") from error
        else:
            info = _entry(entry, name)
            if info is not None:
                yield info


def _entries(folder: Path, before: str, *, missing_ok: bool = True) -> list[tuple[str, os.DirEntry[str]]]:
    """The entries of one folder by whole name, folders with their slash; our own files left out."""
    try:
        with os.scandir(folder) as scan:
            entries = [(_name(entry, before), entry) for entry in scan if not entry.name.startswith(_OURS)]
    except (FileNotFoundError, NotADirectoryError):
        if not missing_ok:
            raise
        return []
    return sorted(entries, key=lambda pair: pair[0])


def _name(entry: os.DirEntry[str], before: str) -> str:
    # Bytes that are no UTF-8 cannot be a name in a table: shown escaped, refused when it is read.
    name = before + entry.name.encode("utf-8", "backslashreplace").decode()
    return f"{name}/" if entry.is_dir(follow_symlinks=False) else name


def _entry(entry: os.DirEntry[str], name: str) -> ObjectInfo | None:
    try:
        facts = entry.stat()
    except FileNotFoundError:
        # Deleted since, or a link to nothing.
        return None
    return _info(name, facts) if st.S_ISREG(facts.st_mode) else None


def _encodes(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _info(name: str, facts: os.stat_result) -> ObjectInfo:
    return ObjectInfo(name, facts.st_size, _token(facts), modified=int(facts.st_mtime))


def _token(facts: os.stat_result) -> str:
    return f"{facts.st_size}-{facts.st_mtime_ns}"


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """A name for a temporary file beside ``path``, in a folder that exists; gone at the end."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise StorageError(f"{path} cannot be written: a file has the name of its folder.") from error
    temporary = path.with_name(f"{_OURS}{uuid.uuid4().hex}")
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _written(path: Path, data: bytes) -> Iterator[Path]:
    """A temporary file beside ``path`` with ``data`` safely on disk; gone at the end, if still there."""
    with _beside(path) as temporary:
        with _open_new(temporary) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield temporary


def _open_new(path: Path) -> BinaryIO:
    """Open a new file. Another process that removes its folder as empty at that moment does no harm."""
    for _ in range(_TRIES):
        try:
            return path.open("xb")
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("xb")


def _move(temporary: Path, path: Path) -> str:
    """Put the file in its place, with a version later than the one it takes the place of."""
    facts = temporary.stat()
    try:
        before = path.stat().st_mtime_ns
    except FileNotFoundError:
        before = 0
    if facts.st_mtime_ns <= before:
        os.utime(temporary, ns=(facts.st_atime_ns, before + 1))
    token = _token(temporary.stat())
    temporary.replace(path)
    return token


def _sync(folder: Path) -> None:
    """Let a rename reach the disk: claims and pointers are promises to others."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

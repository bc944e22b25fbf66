r"""A folder on this machine as a store.

A version is size and modification time in nanoseconds. Writes go to a temporary file beside the target,
reach the disk, and are renamed; a lock file guards compare-and-swap, which a disk does not offer.
Every write here moves the time on, however coarse the clock, so that no version ever comes back.
Symbolic links are read as what they point to; folders behind links are not entered, so no listing is
endless and none leaves the folder that way. Names of our own files begin with ``.parquetry-`` and are
never listed. A name that is not UTF-8 is listed escaped behind an empty segment, ``a//\xff.md``, which no
real name has, and cannot be read; nor can a link in a circle, or what lies deeper than paths reach.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat as st
import sys
import time
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
_WRITING_SECONDS = 3600
_TRIES = 5
_ESCAPED = re.compile(r"(^|/)/[^/]*\\x[0-9a-f]{2}")
_NO_SEGMENTS = frozenset(("", ".", ".."))
_UNREADABLE = "unreadable"
"""The version of what is listed and cannot be looked at: reading it says why."""


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
            for info in _walk(*start, prefix):
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
                for name, path in _entries(*self._start(prefix))
                if name.startswith(prefix) and name != prefix
            ]
            found = [_entry(path, name) for name, path in entries if not name.endswith("/")]
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
        # Millions of small files: no path and no file as an object, and no context made by a generator.
        try:
            handle, before = _open_handle(self._place(name))
            try:
                data = _content(handle, before.st_size, limit)
                after = os.fstat(handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise _as_ours(error, self.uri(name)) from error
        if limit is not None and len(data) > limit:
            raise TooLargeError(f"{self.uri(name)} has more than {limit:,} bytes.")
        versions = {_token(before), _token(after)} | ({token} if token else set())
        if len(versions) > 1:
            raise PreconditionError(f"{self.uri(name)} changed after it was listed.")
        return data

    def open(self, name: str) -> BinaryIO:
        with self._translated(name):
            return _open_regular(self._path(name))

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
                _remove_left_behind(folder)
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
        if _ESCAPED.search(name):
            raise StorageError(
                f"{self.uri(name)} has a name that is not UTF-8, shown escaped here; rename it."
            )
        segments = name.split("/")
        refused = "\0" in name or not _NO_SEGMENTS.isdisjoint(segments) or not _encodes(name)
        if refused or segments[-1].startswith(_OURS):
            raise StorageError(f"{name!r} is no name that a folder can hold below {self.root}.")
        return os.path.join(self._folder, name)  # noqa: PTH118 - a path as an object costs more than a small file

    @contextmanager
    def _translated(self, name: str) -> Iterator[None]:
        with _translated(self.uri(name)):
            yield


def read_file(path: Path, limit: int) -> bytes:
    """The bytes of one file of this machine, for commands that are given its path.

    Raises:
        NotFoundError: there is none, or it is a folder.
        TooLargeError: it has more than ``limit`` bytes.
        StorageError: it cannot be read, or is a pipe or a device.
    """
    with _translated(str(path)), _open_regular(path) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise TooLargeError(f"{path} has more than {limit:,} bytes.")
    return data


def _open_regular(path: Path) -> BinaryIO:
    return os.fdopen(_open_handle(path)[0], "rb")


def _open_handle(path: str | Path) -> tuple[int, os.stat_result]:
    """A regular file, open, and what is known of it."""
    # Without O_NONBLOCK a pipe would wait for its other end.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    facts = os.fstat(handle)
    if st.S_ISREG(facts.st_mode):
        return handle, facts
    os.close(handle)
    if st.S_ISDIR(facts.st_mode):
        raise NotFoundError(f"{path} is a folder; name a file in it.")
    raise StorageError(f"{path} is no regular file.")


def _content(handle: int, size: int, limit: int | None) -> bytes:
    """All of an open file that had ``size`` bytes a moment ago, and of one over ``limit`` a byte more than that."""
    most = sys.maxsize if limit is None else limit + 1
    pieces = []
    while most and (piece := os.read(handle, min(most, size + 1))):
        pieces.append(piece)
        most -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


@contextmanager
def _translated(where: str) -> Iterator[None]:
    """Turn the system's errors into ours, once."""
    try:
        yield
    except OSError as error:
        raise _as_ours(error, where) from error


def _as_ours(error: OSError, where: str) -> StorageError:
    if isinstance(error, FileNotFoundError | NotADirectoryError | IsADirectoryError):
        return NotFoundError(f"There is no {where}.")
    place = error.filename if isinstance(error, PermissionError) else where
    return StorageError(f"{place}: {error.strerror or error}.")


def _walk(folder: Path, before: str, prefix: str) -> Iterator[ObjectInfo]:
    """Every file below a folder whose name begins with ``prefix``, in the order of the names.

    A folder counts with its slash, and so a walk in the order of each folder's entries is one in the order
    of whole names. A folder that cannot be read raises: the listing would not be complete.
    """
    open_folders = [iter(_entries(folder, before))]
    while open_folders:
        name, path = next(open_folders[-1], (None, None))
        if name is None or path is None:
            open_folders.pop()
        elif not name.startswith(prefix):
            continue
        elif name.endswith("/"):
            open_folders.append(iter(_entries(Path(path), name)))
        else:
            info = _entry(path, name)
            if info is not None:
                yield info


def _entries(folder: Path, before: str) -> list[tuple[str, str]]:
    """The entries of one folder by whole name and path, folders with their slash; our own files left out.

    None of a folder that has been deleted since it was seen.
    """
    try:
        entries = _scan(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    # A path as an object costs more than looking at its file.
    named = [
        (_name(entry, before), f"{folder}/{entry.name}")
        for entry in entries
        if not entry.name.startswith(_OURS)
    ]
    return sorted(named)


def _scan(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as scan:
            return list(scan)
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
    handle = _open_stepwise(folder)
    try:
        with os.scandir(handle) as scan:
            return list(scan)
    finally:
        os.close(handle)


def _open_stepwise(folder: Path) -> int:
    """A folder whose path is longer than the system takes at once."""
    handle = os.open(folder.anchor or ".", os.O_RDONLY)
    for segment in folder.parts[1:] if folder.anchor else folder.parts:
        above = handle
        try:
            handle = os.open(segment, os.O_RDONLY | os.O_DIRECTORY, dir_fd=above)
        finally:
            os.close(above)
    return handle


def _name(entry: os.DirEntry[str], before: str) -> str:
    name = before + (entry.name if _encodes(entry.name) else _escaped(entry.name))
    return f"{name}/" if entry.is_dir(follow_symlinks=False) else name


def _escaped(name: str) -> str:
    """Bytes that are no UTF-8 as text of their own, apart from all other names."""
    data = os.fsencode(name).replace(b"\\", b"\\\\")
    return "/" + data.decode("utf-8", "backslashreplace")


def _entry(path: str, name: str) -> ObjectInfo | None:
    try:
        facts = os.stat(path)  # noqa: PTH116 - see _entries
    except (FileNotFoundError, NotADirectoryError):
        # Deleted since, or a link to nothing.
        return None
    except OSError:
        return ObjectInfo(name, 0, _UNREADABLE)
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


def _remove_left_behind(folder: Path) -> None:
    """Temporary files of writers that were killed, where nothing else is left in a folder.

    A writer that is alive is done with its own long before it is that old; a link begins anew.
    """
    with os.scandir(folder) as scan:
        entries = list(scan)
    oldest = time.time() - _WRITING_SECONDS
    if entries and all(_is_ours(entry) and entry.stat().st_ctime < oldest for entry in entries):
        for entry in entries:
            Path(entry.path).unlink(missing_ok=True)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    return entry.name.startswith(_OURS) and entry.is_file(follow_symlinks=False)


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

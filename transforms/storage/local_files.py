"""Files of this machine: what is read is a regular file, and what is written is there whole or not at all.

Writes go to a temporary file beside the target, reach the disk, and are renamed. A version is size and modification
time in nanoseconds; every write moves the time on, however coarse the clock, so that no version ever comes back.
Names of temporary files begin with ``.parquetry-``.
"""

from __future__ import annotations

import os
import stat as st
import sys
import time
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from transforms.model.errors import NotFoundError, StorageError, TooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterator

OURS = ".parquetry-"
"""What names of files begin with that are this program's own."""
_WRITING_SECONDS = 3600
_TRIES = 5


def read_file(path: Path, limit: int) -> bytes:
    """The bytes of one file of this machine, for commands that are given its path.

    Raises:
        NotFoundError: there is none, or it is a folder.
        TooLargeError: it has more than ``limit`` bytes.
        StorageError: it cannot be read, or is a pipe or a device.
    """
    with translated(str(path)), open_regular(path) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise TooLargeError(f"{path} has more than {limit:,} bytes.")
    return data


def open_regular(path: Path) -> BinaryIO:
    """A reader of a regular file; of a folder, a pipe or a device :class:`StorageError`."""
    return os.fdopen(open_handle(path)[0], "rb")


def open_handle(path: str | Path) -> tuple[int, os.stat_result]:
    """The handle of a regular file and what is known of it; of anything else as :func:`open_regular`."""
    # Without O_NONBLOCK a pipe would wait for its other end.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    facts = os.fstat(handle)
    if st.S_ISREG(facts.st_mode):
        return handle, facts
    os.close(handle)
    if st.S_ISDIR(facts.st_mode):
        raise NotFoundError(f"{path} is a folder; name a file in it.")
    raise StorageError(f"{path} is no regular file.")


def content_of(handle: int, size: int, limit: int | None) -> bytes:
    """All of an open file that had ``size`` bytes a moment ago, and of one over ``limit`` a byte more than that."""
    most = sys.maxsize if limit is None else limit + 1
    pieces = []
    while most and (piece := os.read(handle, min(most, size + 1))):
        pieces.append(piece)
        most -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """A name for a temporary file beside ``path``, in a folder that exists; gone at the end."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise StorageError(f"{path} cannot be written: a file has the name of its folder.") from error
    temporary = path.with_name(f"{OURS}{uuid.uuid4().hex}")
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def written(path: Path, data: bytes) -> Iterator[Path]:
    """A temporary file beside ``path`` with ``data`` safely on disk; gone at the end, if still there."""
    with beside(path) as temporary:
        with _open_new(temporary) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield temporary


def move(temporary: Path, path: Path) -> str:
    """Put the file in its place, with a version later than the one it takes the place of; that version."""
    facts = temporary.stat()
    try:
        before = path.stat().st_mtime_ns
    except FileNotFoundError:
        before = 0
    if facts.st_mtime_ns <= before:
        os.utime(temporary, ns=(facts.st_atime_ns, before + 1))
    token = version_of(temporary.stat())
    temporary.replace(path)
    return token


def sync(folder: Path) -> None:
    """Let a rename reach the disk: claims and pointers are promises to others."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove_left_behind(folder: Path) -> None:
    """Temporary files of writers that were killed, where nothing else is left in a folder.

    A writer that is alive is done with its own long before it is that old; a link begins anew.
    """
    with os.scandir(folder) as scan:
        entries = list(scan)
    oldest = time.time() - _WRITING_SECONDS
    if entries and all(_is_ours(entry) and entry.stat().st_ctime < oldest for entry in entries):
        for entry in entries:
            Path(entry.path).unlink(missing_ok=True)


def version_of(facts: os.stat_result) -> str:
    """The token of a file: its size in bytes and its time of modification in nanoseconds."""
    return f"{facts.st_size}-{facts.st_mtime_ns}"


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Turn the system's errors into ours, once."""
    try:
        yield
    except OSError as error:
        raise as_ours(error, where) from error


def as_ours(error: OSError, where: str) -> StorageError:
    """One of this program's errors that says what the system said, and of which file."""
    if isinstance(error, FileNotFoundError | NotADirectoryError | IsADirectoryError):
        return NotFoundError(f"There is no {where}.")
    place = error.filename if isinstance(error, PermissionError) else where
    return StorageError(f"{place}: {error.strerror or error}.")


def _open_new(path: Path) -> BinaryIO:
    """Open a new file. Another process that removes its folder as empty at that moment does no harm."""
    for _ in range(_TRIES):
        try:
            return path.open("xb")
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("xb")


def _is_ours(entry: os.DirEntry[str]) -> bool:
    return entry.name.startswith(OURS) and entry.is_file(follow_symlinks=False)

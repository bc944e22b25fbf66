r"""The files below a folder, in the order of their names.

Symbolic links are read as what they point to; folders behind links are not entered, so no listing is endless and
none leaves the folder that way. This program's own files are never listed. A name that is not UTF-8 is listed escaped
behind an empty segment, ``a//\xff.md``, which no real name has, and cannot be read; nor can a link in a circle, or
what lies deeper than paths reach.
"""

from __future__ import annotations

import errno
import os
import re
import stat as st
from pathlib import Path
from typing import TYPE_CHECKING

from transforms.model.objects import ObjectInfo
from transforms.storage.local_files import OURS, version_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_ESCAPED = re.compile(r"(^|/)/[^/]*\\x[0-9a-f]{2}")
_UNREADABLE = "unreadable"
"""The version of what is listed and cannot be looked at: reading it says why."""


def walk(folder: Path, before: str, prefix: str) -> Iterator[ObjectInfo]:
    """Every file below a folder whose name begins with ``prefix``, in the order of the names.

    A folder counts with its slash, and so a walk in the order of each folder's entries is one in the order
    of whole names. A folder that cannot be read raises: the listing would not be complete.
    """
    open_folders = [iter(entries_of(folder, before))]
    while open_folders:
        name, path = next(open_folders[-1], (None, None))
        if name is None or path is None:
            open_folders.pop()
        elif not name.startswith(prefix):
            continue
        elif name.endswith("/"):
            open_folders.append(iter(entries_of(Path(path), name)))
        else:
            info = entry_of(path, name)
            if info is not None:
                yield info


def entries_of(folder: Path, before: str) -> list[tuple[str, str]]:
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
        if not entry.name.startswith(OURS)
    ]
    return sorted(named)


def entry_of(path: str, name: str) -> ObjectInfo | None:
    """The object at a path; None for what is no regular file, and what is there no more."""
    try:
        facts = os.stat(path)  # noqa: PTH116 - see entries_of
    except (FileNotFoundError, NotADirectoryError):
        # Deleted since, or a link to nothing.
        return None
    except OSError:
        return ObjectInfo(name, 0, _UNREADABLE)
    return info_of(name, facts) if st.S_ISREG(facts.st_mode) else None


def info_of(name: str, facts: os.stat_result) -> ObjectInfo:
    """A regular file as an object of that name."""
    return ObjectInfo(name, facts.st_size, version_of(facts), modified=int(facts.st_mtime))


def encodes(name: str) -> bool:
    """Whether a name is text that UTF-8 can hold."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_escaped(name: str) -> bool:
    """Whether a name stands for one that is not UTF-8."""
    return _ESCAPED.search(name) is not None


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
    name = before + (entry.name if encodes(entry.name) else _escaped(entry.name))
    return f"{name}/" if entry.is_dir(follow_symlinks=False) else name


def _escaped(name: str) -> str:
    """Bytes that are no UTF-8 as text of their own, apart from all other names."""
    data = os.fsencode(name).replace(b"\\", b"\\\\")
    return "/" + data.decode("utf-8", "backslashreplace")

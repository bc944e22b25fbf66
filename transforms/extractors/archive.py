"""Reads zip and gzip files in memory: each member of a supported type is a document, named by its record.

Names in an archive are labels and never paths: nothing is written anywhere.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import TYPE_CHECKING

from transforms.extractors.inflate import Archive, gunzip
from transforms.extractors.members import Member, inner, member_documents
from transforms.extractors.office import caps
from transforms.model.errors import RejectedError

if TYPE_CHECKING:
    from transforms.extractors.extraction import Extraction
    from transforms.extractors.settings import ExtractSettings


def extract_zip(data: bytes, name: str, settings: ExtractSettings) -> Extraction:  # noqa: ARG001
    """The documents of all members that can be read, in the archive's order.

    Raises:
        RejectedError: ``corrupt``, ``decompression_bomb``, ``empty`` or ``too_deep``, for the archive.
    """
    archive = Archive(data, caps(settings), "zip file")
    found = member_documents(_members(archive, settings), inner(settings, 0, "zip file"))
    if not found.documents and not found.refused:
        raise RejectedError("empty", "The zip file holds no files.")
    return found


def extract_gzip(data: bytes, name: str, settings: ExtractSettings) -> Extraction:
    """The documents of the one file inside, which is named as the gzip file without its ending.

    Raises:
        RejectedError: ``corrupt``, ``decompression_bomb``, ``too_deep``, or as the file inside does.
    """
    from transforms.extractors.registry import extract

    inside = gunzip(data, caps(settings))
    stem, ending = posixpath.splitext(name)
    inside_name = stem if ending.lower() in (".gz", ".gzip") else name
    return extract(inside, inside_name, inner(settings, len(inside), "gzip file"))


def _members(archive: Archive, settings: ExtractSettings) -> Iterator[Member]:
    for name in archive.names:
        if _is_litter(name):
            continue
        data: bytes | RejectedError
        try:
            data = archive.read(name)
        except RejectedError as error:
            if error.reason == "decompression_bomb":
                raise
            data = error
        yield Member(name, data, settings.max_expanded_bytes - archive.expanded)


def _is_litter(name: str) -> bool:
    """Whether a program put the file there for itself: resource forks, folder views, thumbnails."""
    base = posixpath.basename(name)
    return (
        name.startswith("__MACOSX/")
        or base.startswith("._")
        or base in (".DS_Store", "Thumbs.db", "desktop.ini")
    )

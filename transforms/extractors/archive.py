"""Reads zip and gzip files in memory: each member of a supported type is a document, named by its record.

Names in an archive are labels and never paths: nothing is written anywhere.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import TYPE_CHECKING

from transforms.extractors.inflate import Archive, gunzip
from transforms.extractors.members import Member, inner, member_documents, with_warnings
from transforms.extractors.office import caps
from transforms.model.errors import RejectedError

if TYPE_CHECKING:
    from transforms.extractors.settings import ExtractSettings
    from transforms.model.document import Document


def extract_zip(data: bytes, name: str, settings: ExtractSettings) -> list[Document]:  # noqa: ARG001
    """The documents of all members that can be read, in the archive's order.

    Raises:
        RejectedError: ``corrupt``, ``decompression_bomb``, ``empty`` or ``too_deep`` for the archive;
            where no member can be read, the first one's reason.
    """
    archive = Archive(data, caps(settings), "zip file")
    level = inner(settings, 0, "zip file")
    documents: list[Document] = []
    rejections: list[RejectedError] = []
    for member in _members(archive):
        left = max(settings.max_expanded_bytes - archive.expanded, 1)
        found, kept_out = member_documents([member], level.model_copy(update={"max_expanded_bytes": left}))
        documents += found
        rejections += kept_out
    if documents:
        return with_warnings(documents, rejections)
    if rejections:
        others = f" ({len(rejections)} members, none readable)" if len(rejections) > 1 else ""
        raise RejectedError(rejections[0].reason, f"{rejections[0].detail}{others}")
    raise RejectedError("empty", "The zip file holds no files.")


def extract_gzip(data: bytes, name: str, settings: ExtractSettings) -> list[Document]:
    """The documents of the one file inside, which is named as the gzip file without its ending.

    Raises:
        RejectedError: ``corrupt``, ``decompression_bomb``, ``too_deep``, or as the file inside does.
    """
    from transforms.extractors.registry import extract

    inside = gunzip(data, caps(settings))
    stem, ending = posixpath.splitext(name)
    inside_name = stem if ending.lower() in (".gz", ".gzip") else name
    return extract(inside, inside_name, inner(settings, len(inside), "gzip file"))


def _members(archive: Archive) -> Iterator[Member]:
    for name in archive.names:
        if _is_litter(name):
            continue
        try:
            data = archive.read(name)
        except RejectedError as error:
            if error.reason == "decompression_bomb":
                raise
            yield Member(name, error)
        else:
            yield Member(name, data)


def _is_litter(name: str) -> bool:
    """Whether a program put the file there for itself: resource forks, folder views, thumbnails."""
    base = posixpath.basename(name)
    return (
        name.startswith("__MACOSX/")
        or base.startswith("._")
        or base in (".DS_Store", "Thumbs.db", "desktop.ini")
    )

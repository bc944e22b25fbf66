"""Makes documents of what lies in another object: members of archives, attachments of mails.

Each is read as if it were an object of its own, with one level less to nest and what is left of the bytes.
One that cannot be read is a warning beside its readable neighbours; a bomb anywhere rejects the whole.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from transforms.model.errors import RejectedError

if TYPE_CHECKING:
    from transforms.extractors.settings import ExtractSettings
    from transforms.model.document import Document

WARNING = "member_rejected"
_BOMB = "decompression_bomb"
_WARNINGS_AT_MOST = 20


@dataclass(frozen=True, slots=True)
class Member:
    """A file in another object; ``data`` that could not be had is the reason why."""

    name: str
    data: bytes | RejectedError


def inner(settings: ExtractSettings, expanded: int, what: str) -> ExtractSettings:
    """The settings for what lies in an object of which ``expanded`` bytes have been inflated.

    Raises:
        RejectedError: ``too_deep`` when no level is left.
    """
    if settings.max_nesting < 1:
        raise RejectedError("too_deep", f"The {what} lies in too many others; the limit is max_nesting.")
    left = max(settings.max_expanded_bytes - expanded, 1)
    return settings.model_copy(update={"max_nesting": settings.max_nesting - 1, "max_expanded_bytes": left})


def member_documents(
    members: Iterable[Member], settings: ExtractSettings
) -> tuple[list[Document], list[RejectedError]]:
    """The documents of all members, ``record`` being the member's name, and what kept others out.

    Raises:
        RejectedError: ``decompression_bomb``, for the whole.
    """
    documents: list[Document] = []
    rejections: list[RejectedError] = []
    for member in _with_own_names(members):
        try:
            documents += _read(member, settings)
        except RejectedError as error:
            if error.reason == _BOMB:
                raise
            rejections.append(RejectedError(error.reason, f"{member.name}: {error.detail}"))
    return documents, rejections


def with_warnings(documents: list[Document], rejections: Iterable[RejectedError]) -> list[Document]:
    """The documents, the first of which carries a warning for each member that was left out, up to twenty."""
    warnings = [f"{WARNING}:{error.reason}: {error.detail}" for error in rejections]
    if not warnings:
        return documents
    if len(warnings) > _WARNINGS_AT_MOST:
        warnings[_WARNINGS_AT_MOST:] = [f"members_rejected:{len(warnings) - _WARNINGS_AT_MOST} more"]
    first, *others = documents
    return [replace(first, warnings=(*first.warnings, *warnings)), *others]


def _read(member: Member, settings: ExtractSettings) -> Iterator[Document]:
    from transforms.extractors.registry import extract

    if isinstance(member.data, RejectedError):
        raise member.data
    for document in extract(member.data, member.name, settings):
        record = member.name if document.record is None else posixpath.join(member.name, document.record)
        yield replace(document, record=record)


def _with_own_names(members: Iterable[Member]) -> Iterator[Member]:
    """Members whose names differ: the second ``a.txt`` is ``a (2).txt``."""
    taken: set[str] = set()
    for member in members:
        stem, ending = posixpath.splitext(member.name)
        name, number = member.name, 1
        while name in taken:
            number += 1
            name = f"{stem} ({number}){ending}"
        taken.add(name)
        yield replace(member, name=name)

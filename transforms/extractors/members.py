"""Makes documents of what lies in another object: members of archives, attachments of mails.

Each is read as if it were an object of its own, with one level less to nest and what is left of the bytes.
One that cannot be read is refused beside its readable neighbours; a bomb anywhere rejects the whole.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from transforms.extractors.extraction import Extraction, RefusedPart, joined
from transforms.model.errors import RejectedError
from transforms.model.ids import id_part

if TYPE_CHECKING:
    from transforms.extractors.settings import ExtractSettings

_BOMB = "decompression_bomb"


@dataclass(frozen=True, slots=True)
class Member:
    """A file in another object; ``data`` that could not be had is the reason why.

    ``left`` are the bytes that it may expand to; None for as many as the settings say.
    """

    name: str
    data: bytes | RejectedError
    left: int | None = None


def inner(settings: ExtractSettings, expanded: int, what: str) -> ExtractSettings:
    """The settings for what lies in an object of which ``expanded`` bytes have been inflated.

    Raises:
        RejectedError: ``too_deep`` when no level is left.
    """
    if settings.max_nesting < 1:
        raise RejectedError("too_deep", f"The {what} lies in too many others; the limit is max_nesting.")
    left = max(settings.max_expanded_bytes - expanded, 1)
    return settings.model_copy(update={"max_nesting": settings.max_nesting - 1, "max_expanded_bytes": left})


def member_documents(members: Iterable[Member], settings: ExtractSettings) -> Extraction:
    """The documents of all members, ``record`` being the member's name, and the members left out.

    Raises:
        RejectedError: ``decompression_bomb``, for the whole.
    """
    return joined(_read(member, settings) for member in _with_own_names(members))


def _read(member: Member, settings: ExtractSettings) -> Extraction:
    from transforms.extractors.registry import extract

    if member.left is not None:
        settings = settings.model_copy(update={"max_expanded_bytes": max(member.left, 1)})
    try:
        if isinstance(member.data, RejectedError):
            raise member.data
        return extract(member.data, member.name, settings).inside(member.name)
    except RejectedError as error:
        if error.reason == _BOMB:
            raise
        return Extraction((), (RefusedPart(id_part(member.name), error.reason, error.detail),))


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

"""What extraction makes of one object: its documents, and the parts of it that cannot be read.

Archives, mails and files of records hold several documents. One of them that cannot be read is refused alone,
under the name that it would have had, so that it is a row of the rejected table beside its readable neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from transforms.model.errors import RejectedError
from transforms.model.ids import id_inside, id_part

if TYPE_CHECKING:
    from collections.abc import Iterable

    from transforms.model.document import Document

PARTS_AT_MOST = 1000
"""Refused parts of one object that are named one by one."""


@dataclass(frozen=True, slots=True)
class RefusedPart:
    """A part of an object that cannot be read: a member, an attachment, a line."""

    record: str
    """The record that its document would have had; its place in the object where that is not known."""
    reason: str
    detail: str
    is_named: bool = True
    """Whether ``record`` is the document's own name; of a broken line the id may be unknown."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """The documents of one object in its own order, and what could not be read of it."""

    documents: tuple[Document, ...]
    refused: tuple[RefusedPart, ...] = ()

    def inside(self, member: str) -> Extraction:
        """The same as parts of a larger object, where the whole is called ``member``."""
        outer = id_part(member)
        return Extraction(
            tuple(replace(one, record=id_inside(outer, one.record)) for one in self.documents),
            tuple(replace(one, record=id_inside(outer, one.record)) for one in self.refused),
        )

    def checked(self, *, whole: bool = True) -> Extraction:
        """The same without blank documents, and with at most ``PARTS_AT_MOST`` refused parts.

        Raises:
            RejectedError: there is no document, and it is of a ``whole`` object; the reason is that of the first
                part, else ``empty``.
        """
        documents = tuple(document for document in self.documents if document.text.strip())
        blank = (
            RefusedPart(document.record, "empty", "It has no text.")
            for document in self.documents
            if document.record is not None and not document.text.strip()
        )
        refused = (*self.refused, *blank)
        if whole and not documents:
            raise _refusal(refused)
        return Extraction(documents, _at_most(refused))


def joined(extractions: Iterable[Extraction]) -> Extraction:
    """All documents and refused parts of several extractions, in order."""
    found = list(extractions)
    return Extraction(
        tuple(document for one in found for document in one.documents),
        tuple(part for one in found for part in one.refused),
    )


def _refusal(refused: tuple[RefusedPart, ...]) -> RejectedError:
    if not refused:
        return RejectedError("empty", "The file has no text.")
    first = refused[0]
    others = f" ({len(refused)} parts, none readable)" if len(refused) > 1 else ""
    return RejectedError(first.reason, f"{first.record}: {first.detail}{others}")


def _at_most(refused: tuple[RefusedPart, ...]) -> tuple[RefusedPart, ...]:
    if len(refused) <= PARTS_AT_MOST:
        return refused
    more = len(refused) - PARTS_AT_MOST
    last = refused[PARTS_AT_MOST]
    detail = f"{more:,} more parts cannot be read; the first is {last.record}: {last.detail}"
    return (*refused[:PARTS_AT_MOST], RefusedPart("(more)", last.reason, detail, is_named=False))

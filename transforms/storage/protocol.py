"""What the job needs of a store, local disk or cloud.

A store is rooted at a folder or a bucket prefix. Names are relative to it, with ``/`` between segments,
and are never interpreted: ``#``, ``?``, ``*``, ``[``, ``%``, spaces and line breaks are characters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from transforms.model.objects import ObjectInfo


@dataclass(frozen=True, slots=True)
class Level:
    """What lies directly below a prefix: whole names, and folders as prefixes that end in ``/``."""

    folders: tuple[str, ...]
    objects: tuple[ObjectInfo, ...]
    complete: bool = True
    """Whether that is all: one request is made, and has an end."""


class Store(Protocol):
    """Objects below one root. Travels to workers as its configuration; clients open late.

    Every method raises :class:`StorageError` or one of its kinds, with the object's URI in the message.
    """

    root: str
    """As it was configured."""
    lists_apart: bool
    """Whether a long listing is worth dividing by folders: each page is a wait, and names are sorted for certain."""

    def uri(self, name: str) -> str:
        """How a person or another program names the object."""

    def exists_root(self) -> bool:
        """Whether there is such a folder or bucket, even if it is empty."""

    def list(self, prefix: str = "") -> Iterator[list[ObjectInfo]]:
        """All objects whose name begins with ``prefix``, sorted by name, in pages of at most 1,000.

        Folder markers (no bytes, a name that ends in ``/``) are left out. A listing that is not complete
        raises and never just ends.
        """

    def level(self, prefix: str = "") -> Level:
        """One level of the listing, or the beginning of it: enough to divide the listing by folders."""

    def stat(self, name: str) -> ObjectInfo | None:
        """What a listing would say of one object; None where there is none."""

    def read(self, name: str, token: str | None = None, limit: int | None = None) -> bytes:
        """The object's bytes.

        Raises:
            NotFoundError: there is none of that name.
            PreconditionError: its version is not ``token``.
            TooLargeError: it has more than ``limit`` bytes.
        """

    def open(self, name: str) -> BinaryIO:
        """A seekable reader, for formats that read parts."""

    def write(self, name: str, data: bytes) -> None:
        """Write or replace the object; a reader sees the old bytes or the new ones."""

    def create(self, name: str, data: bytes) -> str:
        """Write an object that must not exist yet; its token. Of several writers exactly one succeeds.

        Raises:
            PreconditionError: it exists.
        """

    def replace(self, name: str, data: bytes, token: str) -> str:
        """Write over the version that ``token`` names; the new token.

        Raises:
            PreconditionError: another version is there, or none.
        """

    def copy(self, source: str, target: str) -> None:
        """Make ``target`` hold what ``source`` holds without moving data through this process."""

    def delete(self, names: Iterable[str]) -> None:
        """Delete objects; those that do not exist are passed over."""

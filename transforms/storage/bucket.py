"""What all stores in buckets have in common: a root, a client that opens late, listings of pages."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from threading import Lock
from typing import TYPE_CHECKING, Any, BinaryIO

from transforms.model.errors import CredentialsError, NotFoundError, PreconditionError, StorageError
from transforms.storage.ranges import range_reader
from transforms.storage.roots import split_root

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from transforms.model.objects import ObjectInfo

PAGE = 1_000
MARK = "parquetry-write"
"""Metadata by which a writer knows its own object, where a repeated request is told that one exists."""
_LONGEST = 1_024
"""Bytes of a name in UTF-8, the folder of the root included: the limit of two services; Azure's is in characters."""


class BucketStore(ABC):
    """Objects are those of a bucket whose names begin with a prefix. Travels as its root alone."""

    scheme: str
    lists_apart = True
    longest = f"{_LONGEST:,} bytes"

    def __init__(self, root: str) -> None:
        self.root = root
        self._bucket_name, self._prefix = split_root(root, self.scheme)
        self._opened: Any = None
        self._opening = Lock()

    def __getstate__(self) -> dict[str, str]:
        return {"root": self.root}

    def __setstate__(self, state: dict[str, str]) -> None:
        self.__init__(state["root"])  # type: ignore[misc]

    def close(self) -> None:
        """Let go of the connections. The next call opens new ones."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def uri(self, name: str) -> str:
        """``scheme://bucket/prefix/name``, the name unescaped."""
        return f"{self.scheme}://{self._bucket_name}/{self._prefix}{name}"

    def exists_root(self) -> bool:
        """Whether the bucket exists: asked by listing, which needs no right on the bucket itself."""
        try:
            with self._translated(""):
                self._list_one()
        except NotFoundError:
            return False
        return True

    def list(self, prefix: str = "") -> Iterator[list[ObjectInfo]]:
        with self._translated(prefix):
            for page in self._pages(prefix):
                infos = self._infos(page)
                if infos:
                    yield [*infos]

    def open(self, name: str) -> BinaryIO:
        """A reader of the version that is there now; PreconditionError where it is there no more."""
        facts = self.stat(name)
        if facts is None:
            raise NotFoundError(f"There is no {self.uri(name)}.")
        token = facts.token

        def fetch(start: int, end: int) -> bytes:
            try:
                with self._translated(name):
                    return self._part(name, token, start, end)
            except NotFoundError as error:
                raise PreconditionError(f"{self.uri(name)} changed while it was read.") from error

        return range_reader(facts.size, fetch)

    def _client(self) -> Any:
        """The vendor's client, one for all threads."""
        with self._opening:
            if self._opened is None:
                self._opened = self._open_client()
            return self._opened

    def _refuse_too_long(self, name: str) -> None:
        if len((self._prefix + name).encode(errors="surrogatepass")) > _LONGEST:
            raise self._too_long(name)

    def _too_long(self, name: str) -> StorageError:
        return StorageError(f"{self.uri(name)!r} is too long: a bucket holds names of {self.longest}.")

    def _no_bucket(self) -> NotFoundError:
        where = f"{self.scheme}://{self._bucket_name}"
        return NotFoundError(f"There is no bucket {where}; create it, or correct {self.root}.")

    @abstractmethod
    def stat(self, name: str) -> ObjectInfo | None:
        """What a listing would say of one object."""

    @abstractmethod
    def _part(self, name: str, token: str, start: int, end: int) -> bytes:
        """The bytes of a half-open range of one version."""

    @abstractmethod
    def _open_client(self) -> Any:
        """A client with the environment's credentials; ConfigError where there are none."""

    @abstractmethod
    def _translated(self, name: str) -> AbstractContextManager[None]:
        """Turn the client's errors into ours, once."""

    @abstractmethod
    def _list_one(self) -> None:
        """Ask for one object of the bucket: an error says that the bucket is not there."""

    @abstractmethod
    def _pages(self, prefix: str) -> Iterable[Any]:
        """The client's pages of a listing, in order."""

    @abstractmethod
    def _infos(self, page: Any) -> Sequence[ObjectInfo]:
        """The objects of a page, folder markers left out."""


def said(error: object) -> str:
    """The first line of what a client says, without what may be a secret: queries of addresses hold signatures."""
    line = str(error).strip().partition("\n")[0].rstrip(".: ")
    return re.sub(r"(?<=\?)[^\s'\")>]*", "...", line)


def expired(where: str, why: str, remedy: str) -> CredentialsError:
    """One sentence for credentials that are refused, whichever service says so."""
    return CredentialsError(
        f"{where}: the credentials do not work, or no longer ({why}). {remedy}, and run again: what is done is kept."
    )


def without_markers(infos: Iterable[ObjectInfo]) -> Sequence[ObjectInfo]:
    """Objects but folder markers: names that end in a slash and hold nothing."""
    return [info for info in infos if info.name and (info.size or not info.name.endswith("/"))]

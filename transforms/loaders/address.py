"""Where a store is: ``SCHEME:REST#COLLECTION``, and what of it may be shown.

``duckdb:build/chunks.duckdb``, ``duckdb:///data/chunks.duckdb#pages``, ``postgresql://user:pw@host/db#pages``.
A password is neither shown nor stored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from transforms.model.errors import ConfigError

COLLECTION = "chunks"
"""The collection of an address that names none."""
_LONGEST = 500
"""Characters of an error that are told."""
_SCHEME = re.compile(r"([a-z][a-z0-9+-]+):(.*)", re.DOTALL)
_PASSWORD = re.compile(
    r"(?<=//)([^/@]*:)([^@]*)(?=@)|([?&](?:password|api_key|token)=)([^&#]*)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Address:
    """A store and a collection in it."""

    scheme: str
    rest: str
    """What stands behind the scheme's colon, without the collection."""
    collection: str
    """Name of a collection, or of an alias or view."""

    @property
    def url(self) -> str:
        """With its secrets: for the vendor's client."""
        return f"{self.scheme}:{self.rest}"

    @property
    def path(self) -> str:
        """Of a store in files: ``x/y`` of ``duckdb:x/y`` and of ``duckdb://x/y``, ``/x`` of ``duckdb:///x``."""
        return self.rest.removeprefix("//")

    def local_path(self) -> Path:
        """The same on this machine, in a folder that is there: a slip in a path makes no folders.

        Raises:
            ConfigError: there is no such folder.
        """
        path = Path(self.path).expanduser()
        if not path.parent.is_dir():
            raise ConfigError(
                f"{self.shown}: there is no folder {path.parent}. Make it first, or mend the address."
            )
        return path

    @property
    def shown(self) -> str:
        """For messages."""
        return _PASSWORD.sub(lambda found: f"{found[1] or found[3]}***", self.url)

    def said(self, error: Exception) -> str:
        """What an error says, as the rest of a sentence without secrets."""
        text = " ".join(self.hidden(str(error)).split())[:_LONGEST].rstrip(".")
        return text or type(error).__name__

    def hidden(self, text: str) -> str:
        """A text without the secrets of the address."""
        secrets = {found[2] or found[4] or "" for found in _PASSWORD.finditer(self.url)}
        forms = {form for secret in secrets for form in (secret, unquote(secret)) if len(form) > 3}
        for form in sorted(forms, key=len, reverse=True):
            text = text.replace(form, "***")
        return text


def parse_address(written: str) -> Address:
    """The address as people write it.

    Raises:
        ConfigError: it is none.
    """
    body, mark, collection = written.strip().rpartition("#")
    if not mark:
        body, collection = collection, COLLECTION
    found = _SCHEME.fullmatch(body)
    if found is None or not found[2].removeprefix("//") or not collection:
        raise ConfigError(
            f"{_PASSWORD.sub('***', written)!r} is no address of a store; write SCHEME:PLACE#COLLECTION, "
            "as in duckdb:build/chunks.duckdb#chunks."
        )
    return Address(found[1], found[2], collection)

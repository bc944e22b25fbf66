"""What a server says back of a request's secrets is not shown: neither the key nor a token or signature.

The request itself tells what is secret, so this holds for every provider and whatever a key looks like.
"""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

_OF_IDENTITY = re.compile("(?i)authorization|key|token|secret")
"""Names of headers that prove who asks."""
_SHORTEST = 4
"""Shorter values are no secrets, and occur in words."""


def redacted(text: str, request: httpx.Request) -> str:
    """The text with ``***`` for each secret in the request's headers: as it is, URL-quoted or in base64."""
    forms = {form for secret in _secrets(request.headers) for form in _forms(secret)}
    if not forms:
        return text
    longest_first = sorted(forms, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, longest_first)), "***", text, flags=re.IGNORECASE)


def _secrets(headers: httpx.Headers) -> Iterator[str]:
    for name, value in headers.items():
        if not _OF_IDENTITY.search(name):
            continue
        # Without its scheme, such as Bearer; of a signature its parts.
        credentials = value.partition(" ")[2] or value
        parts = re.findall(r"(?:Credential|Signature)=([^/,\s]+)", credentials)
        yield from (secret for secret in (value, credentials, *parts) if len(secret) >= _SHORTEST)


def _forms(secret: str) -> Iterator[str]:
    data = secret.encode()
    yield secret
    yield repr(secret)[1:-1]
    yield quote(secret)
    yield quote(secret, safe="")
    yield base64.b64encode(data).decode().rstrip("=")
    yield base64.urlsafe_b64encode(data).decode().rstrip("=")

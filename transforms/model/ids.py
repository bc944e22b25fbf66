"""Ids and hashes: from content, never from clock, chance or position in a batch."""

from __future__ import annotations

import hashlib
import re
import unicodedata
import uuid
from collections.abc import Iterable, Iterator

_CHUNK_NAMESPACE = uuid.UUID("6f1d7a52-0f6a-5d0e-9a57-5a2f9f1c8b11")
_SLUG = re.compile(r"[a-z][a-z0-9_-]{0,62}")


def sha256_hex(text: str | bytes) -> str:
    """The SHA-256 of a text's UTF-8 bytes, 64 hex digits."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def fingerprint(*parts: str) -> str:
    """32 hex digits over a sequence of texts; ``("ab", "c")`` and ``("a", "bc")`` differ."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()[:32]


def chunk_ids(source: str, doc_id: str, text_hashes: Iterable[str]) -> Iterator[str]:
    """One UUID (version 5) a chunk, over source, document, text hash and n-th occurrence of that text.

    A chunk keeps its id when others come or go around it, and an id never points at other text.
    """
    seen: dict[str, int] = {}
    for text_hash in text_hashes:
        occurrence = seen.get(text_hash, 0)
        seen[text_hash] = occurrence + 1
        key = fingerprint(source, doc_id, text_hash, str(occurrence))
        yield str(uuid.uuid5(_CHUNK_NAMESPACE, key))


def embed_key(model: str, dimension: int, task: str, embed_text: str) -> str:
    """What names a vector: the same key is never paid for twice."""
    return fingerprint(model, str(dimension), task, embed_text)


def slug(name: str) -> str:
    """The partition directory's value for a source: URL-safe, begins with a letter, never shared.

    A name that is a slug already stays as it is; any other gets a hash of its exact code points, so
    that ``AC/DC`` and ``ac-dc`` part, as do names that differ in case or normal form only.
    """
    if _SLUG.fullmatch(name):
        return name
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].strip("-")
    return "-".join(part for part in ("s", words, sha256_hex(name)[:8]) if part)

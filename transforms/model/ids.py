"""Ids and hashes: from content, never from clock, chance or position in a batch."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator

_SLUG = re.compile(r"[a-z][a-z0-9_-]{0,62}")
_MADE = re.compile(r"s-([a-z0-9-]+-)?[0-9a-f]{8}")
"""What :func:`slug` makes of names that are none."""
_READ_AS_VALUES = frozenset(("true", "false", "null", "none", "nan", "inf", "infinity", "epoch"))
"""Words that one reader of partition directories or another takes for a truth value, a number, a date or nothing."""
_INSIDE = "#"
_MARKED = re.compile(r"#|%(?=2[35])")
_ESCAPED = re.compile(r"%23|%25")


def sha256_hex(text: str | bytes) -> str:
    """The SHA-256 of a text's UTF-8 bytes, 64 hex digits."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def fingerprint(*parts: str) -> str:
    """32 hex digits over a sequence of texts; ``("ab", "c")`` and ``("a", "bc")`` differ."""
    return _digest(parts).hexdigest()[:32]


def id_part(name: str) -> str:
    """A name as a part of an id: ``#`` is ``%23``, and ``%`` is ``%25`` where it would be read as such a mark.

    All other names stay as they are, and two names never become one.
    """
    return _MARKED.sub(lambda found: f"%{ord(found.group()):02X}", name)


def id_inside(outer: str, inner: str | None) -> str:
    """The id of what lies in something else, from the ids of both: ``notes.zip#a.txt``; None is the whole."""
    return outer if inner is None else f"{outer}{_INSIDE}{inner}"


def doc_id(object_name: str, record: str | None) -> str:
    """The id of a document within its source: that of no other object, and of no other record."""
    return id_inside(id_part(object_name), record)


def plain_id(doc_id: str) -> str:
    """An id as people name things: its names as they are, joined by ``#``."""
    return _ESCAPED.sub(lambda found: chr(int(found.group()[1:], 16)), doc_id)


def chunk_ids(source: str, doc_id: str, text_hashes: Iterable[str]) -> Iterator[str]:
    """One UUID (version 8) a chunk, over source, document, text hash and n-th occurrence of that text.

    A chunk keeps its id when others come or go around it, and an id never points at other text.
    """
    of_document = _digest((source, doc_id))
    seen: dict[str, int] = {}
    for text_hash in text_hashes:
        occurrence = seen.get(text_hash, 0)
        seen[text_hash] = occurrence + 1
        yield _uuid(_continued(of_document, f"{text_hash}:{occurrence}"))


def embed_keys(model: str, dimension: int, task: str, text_hashes: Iterable[str]) -> Iterator[str]:
    """What names the vector of each text, given by its SHA-256: the same key is never paid for twice."""
    of_model = _digest((model, str(dimension), task))
    for text_hash in text_hashes:
        yield _continued(of_model, text_hash)[:32]


def _digest(parts: Iterable[str]) -> hashlib._Hash:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest


def _continued(digest: hashlib._Hash, text: str) -> str:
    """The hex digits of a digest with a text behind it; the digest itself stays as it is."""
    copy = digest.copy()
    copy.update(text.encode())
    return copy.hexdigest()


def _uuid(digits: str) -> str:
    """Hex digits as the text of a UUID of version 8 (RFC 9562), whose bits are the maker's own."""
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"


def slug(name: str) -> str:
    """The partition directory's value for a source: URL-safe, begins with a letter, never shared.

    A name that is a slug already stays as it is; any other gets a hash of its exact code points, so
    that ``AC/DC`` and ``ac-dc`` part, as do names that differ in case or normal form only. So does a name
    that looks like one with a hash, which may be what another name gets, and a word that engines read as a value:
    ``source=true`` is a truth value to Polars, ``source=infinity`` a date to DuckDB.
    """
    if _SLUG.fullmatch(name) and not _MADE.fullmatch(name) and name not in _READ_AS_VALUES:
        return name
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].strip("-")
    return "-".join(part for part in ("s", words, sha256_hex(name)[:8]) if part)

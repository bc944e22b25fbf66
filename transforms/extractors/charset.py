"""Which encoding a text file has: what is certain first, a guess last and marked as one."""

from __future__ import annotations

import codecs
import re

from transforms.model.errors import RejectedError

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARATIONS = (
    re.compile(rb"<\?xml[^>]*encoding=[\"']([\w.:-]+)", re.IGNORECASE),
    re.compile(rb"<meta[^>]*charset=[\"']?\s*([\w.:-]+)", re.IGNORECASE),
    re.compile(rb"coding[:=]\s*([\w.-]+)"),
)
_HEAD = 4096
_GUESSED_FROM = 65_536


def decode(data: bytes, encoding: str | None = None) -> tuple[str, tuple[str, ...]]:
    """The text, and a warning where its encoding was guessed.

    In this order: ``encoding``, a byte-order mark, UTF-8, a declaration in the first 4 KiB, a guess.

    Raises:
        RejectedError: ``wrong_charset``, where no encoding reads the bytes, or the given one does not.
    """
    for mark, name in _BOMS:
        if encoding is None and data.startswith(mark):
            return _strict(data, name), ()
    if encoding is not None:
        return _strict(data, encoding), ()
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError:
        pass
    declared = _declared(data[:_HEAD])
    if declared is not None:
        return _strict(data, declared), ()
    return _guess(data)


def _strict(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        raise RejectedError(
            "wrong_charset",
            f"The text is not {encoding}: {error}. Set extract.encoding to its encoding, or convert it to UTF-8.",
        ) from error


def _declared(head: bytes) -> str | None:
    for pattern in _DECLARATIONS:
        found = pattern.search(head)
        if found:
            return found[1].decode("ascii")
    return None


def _guess(data: bytes) -> tuple[str, tuple[str, ...]]:
    from charset_normalizer import from_bytes

    if b"\0" in data[:_GUESSED_FROM]:
        raise RejectedError(
            "unsupported_type", "The file is binary: neither text nor a format that can be read."
        )
    best = from_bytes(data[:_GUESSED_FROM]).best()
    if best is None:
        raise RejectedError(
            "wrong_charset", "No encoding reads this text. Set extract.encoding, or convert it to UTF-8."
        )
    return _strict(data, best.encoding), (f"charset_guessed:{best.encoding}",)

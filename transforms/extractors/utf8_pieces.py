"""How a text that is too large to hold is decoded: as :mod:`~transforms.extractors.charset` would the whole."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Literal

from transforms.extractors.charset import decode, is_damaged_utf8, is_mostly_faults, utf8_signs
from transforms.model.errors import RejectedError

if TYPE_CHECKING:
    from collections.abc import Iterable

_WAYS = ("strict", "surrogatepass", "replace")


def is_utf8_so_far(head: bytes) -> bool:
    """Whether a text that begins so is read as UTF-8, if all of it is."""
    try:
        text, _ = decode(head)
    except RejectedError:
        return False
    data = head.removeprefix(codecs.BOM_UTF8)
    return any(text == _try(data, way) for way in _WAYS)


def keeps_ascii(encoding: str) -> bool:
    """Whether ASCII is itself in an encoding, so that lines are found before they are decoded."""
    try:
        return all(bytes([code]).decode(encoding) == chr(code) for code in range(128))
    except (UnicodeDecodeError, LookupError):
        return False


def damage_of(blocks: Iterable[bytes]) -> Literal["surrogatepass", "replace"] | None:
    """How a text that is no UTF-8, in blocks of whole lines, is read as UTF-8 all the same; None: it is not."""
    sequences = faults = letters = 0
    paired, marked = True, None
    for block in blocks:
        if marked is None:
            marked = block.startswith(codecs.BOM_UTF8)
        paired = paired and _try(block, "surrogatepass") is not None
        text = block.decode("utf-8", "replace")
        more_sequences, more_faults = utf8_signs(text)
        sequences, faults, letters = sequences + more_sequences, faults + more_faults, letters + len(text)
    if paired:
        return "surrogatepass"
    if marked:
        # The mark is a sequence too, and none of the text.
        sequences, letters = sequences - 1, letters - 1
    believed = marked and not is_mostly_faults(faults, letters)
    return "replace" if is_damaged_utf8(sequences, faults) or believed else None


def _try(data: bytes, errors: str) -> str | None:
    try:
        return data.decode("utf-8", errors)
    except UnicodeDecodeError:
        return None

"""The text of a range of records, decoded as the whole object would be."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from transforms.extractors.charset import DAMAGED_UTF8
from transforms.model.document import canonical_text

if TYPE_CHECKING:
    from transforms.model.objects import RecordRange


def range_text(data: bytes, encoding: str | None, part: RecordRange) -> tuple[str, tuple[str, ...]]:
    """The canonical text, and the warnings that each document of the object bears."""
    begins = part.spans[0][0] == 0
    text = piece_text(data, encoding, part.errors, begins=begins)
    return text, () if part.errors == "strict" else (DAMAGED_UTF8,)


def piece_text(data: bytes, encoding: str | None, errors: str, *, begins: bool) -> str:
    """The canonical text of some lines of an object; ``begins``: they are its first ones.

    Raises:
        UnicodeDecodeError: they are not in the encoding; None is UTF-8.
    """
    if begins and encoding is None:
        data = data.removeprefix(codecs.BOM_UTF8)
    text = data.decode(encoding or "utf-8", errors)
    # A mark is one at the beginning of an object only.
    return canonical_text(text) if begins else canonical_text("\n" + text)[1:]

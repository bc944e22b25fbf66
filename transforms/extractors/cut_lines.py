"""Cut JSON Lines: a line break in the bytes ends a record, whatever stands before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from transforms.extractors.json_files import json_lines
from transforms.extractors.pieces import Piece, line_blocks
from transforms.extractors.ranged_text import piece_text
from transforms.extractors.records import BrokenRecord, record_name
from transforms.extractors.settled_names import Wishes, numbered

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from transforms.extractors.pieces import Digest
    from transforms.extractors.settings import ExtractSettings


def cut_lines(
    file: BinaryIO, settings: ExtractSettings, errors: str, size: int, most: int, digest: Digest
) -> Iterator[Piece]:
    """Pieces of about ``size`` bytes, and of one line at least.

    Raises:
        NotCutError: a line has more than ``most`` bytes.
        UnicodeDecodeError: ``errors`` is strict, and the text is not in its encoding.
    """
    start = before = 0
    for block in line_blocks(file, size, most, digest):
        text = piece_text(block, settings.encoding, errors, begins=start == 0)
        lines = text.count("\n") + (not text.endswith("\n"))
        if settings.records.id is None:
            wishes, unsure = numbered(before, lines), False
        else:
            wishes, unsure = _named(text, before, settings)
        yield Piece(((start, start + len(block)),), before, wishes, unsure)
        start += len(block)
        before += lines


def _named(text: str, before: int, settings: ExtractSettings) -> tuple[Wishes, bool]:
    """What the records are called by their ids, and whether one is broken, so that its id is not known."""
    names, numbers, broken = [], [], False
    for record in json_lines(text, before):
        names.append(record_name(record, settings.records))
        numbers.append(record.number)
        broken |= isinstance(record, BrokenRecord)
    return Wishes(pa.array(names, pa.string()), np.array(numbers, np.int64)), broken

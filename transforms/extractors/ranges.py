"""Cut a large object of records into ranges that are read by themselves, each as the whole would give it.

An object is read through once for it: where records begin, how many there are before, what they are called, and
which bytes it holds. What a range cannot know by itself goes with it. An object of which that cannot be told for
certain is not cut: it is read whole.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from transforms.extractors.cut_groups import cut_groups
from transforms.extractors.cut_lines import cut_lines
from transforms.extractors.cut_rows import cut_rows
from transforms.extractors.detect import media_type, record_type
from transforms.extractors.json_files import JSONL
from transforms.extractors.parquet_file import PARQUET
from transforms.extractors.pieces import NotCutError, line_blocks
from transforms.extractors.records import is_by_record
from transforms.extractors.settled_names import settle
from transforms.extractors.utf8_pieces import damage_of, is_utf8_so_far, keeps_ascii
from transforms.model.errors import RejectedError
from transforms.model.objects import RecordRange

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO

    import pyarrow as pa

    from transforms.extractors.pieces import Piece
    from transforms.extractors.settings import ExtractSettings

_AUTO_BY_RECORD = (JSONL, PARQUET)
_HEAD = 2**18
_BLOCK = 2**20

Errors = Literal["strict", "surrogatepass", "replace"]


@dataclass(frozen=True, slots=True)
class NamedRange:
    """A range, and what each of its records is called, broken ones and those without text included."""

    records: RecordRange
    names: pa.Array


def may_be_cut(name: str, settings: ExtractSettings) -> bool:
    """Whether an object of this name is read in ranges where it is large."""
    kind = record_type(name)
    return kind is not None and is_by_record(settings, auto=kind in _AUTO_BY_RECORD)


def cut_records(
    file: BinaryIO, name: str, settings: ExtractSettings, size: int, most: int
) -> tuple[NamedRange, ...]:
    """The ranges of an object, two and more, in their order; none where it is to be read whole.

    Args:
        file: the object; it is read through from its beginning.
        name: its name, of which :func:`may_be_cut` says so.
        settings: of the source.
        size: bytes that a range aims at; it has one record at least.
        most: bytes that one may have.
    """
    try:
        pieces, errors, sha256 = _cut(file, name, settings, size, most)
    except NotCutError:
        return ()
    if len(pieces) < 2 or any(end - start > most for piece in pieces for start, end in piece.spans):
        return ()
    names, told = settle([piece.wishes for piece in pieces])
    unsure = any(piece.unsure for piece in pieces)
    return tuple(
        NamedRange(
            RecordRange(
                spans=piece.spans,
                before=piece.before,
                object_sha256=sha256,
                errors=errors,
                width=piece.width,
                names=tuple(told[place].items()),
                unsure=unsure,
            ),
            names[place],
        )
        for place, piece in enumerate(pieces)
    )


def _cut(
    file: BinaryIO, name: str, settings: ExtractSettings, size: int, most: int
) -> tuple[Sequence[Piece], Errors, str]:
    """Pieces, how the text is decoded, and the hash of all bytes."""
    if record_type(name) == PARQUET:
        return cut_groups(file, settings, size), "strict", _sha256(file)
    _require_text(file, name, settings)
    try:
        return _cut_text(file, name, settings, "strict", size, most)
    except UnicodeDecodeError as error:
        errors = None
        if settings.encoding is None:
            errors = damage_of(line_blocks(file, _BLOCK, most, hashlib.sha256()))
        if errors is None:
            raise NotCutError from error
        return _cut_text(file, name, settings, errors, size, most)


def _cut_text(
    file: BinaryIO, name: str, settings: ExtractSettings, errors: Errors, size: int, most: int
) -> tuple[Sequence[Piece], Errors, str]:
    digest = hashlib.sha256()
    kind = record_type(name)
    if kind == JSONL:
        pieces = [*cut_lines(file, settings, errors, size, most, digest)]
    else:
        pieces = cut_rows(file, settings, errors, size, most, digest, str(kind))
    return pieces, errors, digest.hexdigest()


def _require_text(file: BinaryIO, name: str, settings: ExtractSettings) -> None:
    """Raises NotCutError for what begins as another kind of file, or in an encoding without plain line breaks."""
    file.seek(0)
    head = file.read(_HEAD)
    head = head[: head.rfind(b"\n") + 1] or head
    try:
        kind = media_type(head, name)
    except RejectedError as error:
        raise NotCutError from error
    encoding = settings.encoding
    if kind != record_type(name) or not (
        is_utf8_so_far(head) if encoding is None else keeps_ascii(encoding)
    ):
        raise NotCutError


def _sha256(file: BinaryIO) -> str:
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]

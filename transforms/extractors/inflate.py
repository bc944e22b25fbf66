"""Reads compressed data with a cap on what comes out: what an object may expand to, and what it may not.

Sizes that a file states about itself are not believed; the bytes are counted as they are inflated, so that
a bomb is stopped at the cap and never held whole.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from transforms.model.errors import RejectedError

_STEP = 1 << 16
_RATIO_FROM = 10 << 20
"""Bytes: below this a high ratio is harmless, and small repetitive parts reach it honestly."""
_BOUNDED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The methods that the standard library inflates in bounded steps; with others a step may be gigabytes."""
_ENCRYPTED_MEMBER = 0x1
_UTF8_NAME = 0x800


@dataclass(frozen=True, slots=True)
class Caps:
    """How far one object may expand: bytes in all, bytes out for each byte in, members."""

    expanded_bytes: int
    ratio: int
    members: int


class Archive:
    """A zip file in memory whose reads share one budget of inflated bytes."""

    def __init__(self, data: bytes, caps: Caps, what: str) -> None:
        """Read the directory of a zip file.

        Raises:
            RejectedError: ``corrupt`` for what is no zip file, ``decompression_bomb`` for more members than
                the cap.
        """
        self.what = what
        self._caps = caps
        self.expanded = 0
        """Bytes inflated so far."""
        with _zip_faults(what):
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        infos = [info for info in self._zip.infolist() if not info.is_dir()]
        if len(infos) > caps.members:
            raise RejectedError(
                "decompression_bomb",
                f"The {what} has {len(infos)} members; the limit is {caps.members}.",
            )
        self._infos = {member_name(info): info for info in infos}

    @property
    def names(self) -> tuple[str, ...]:
        """The members' names in the archive's own order, directories left out."""
        return tuple(self._infos)

    def __contains__(self, name: str) -> bool:
        """Whether there is a member of that name."""
        return name in self._infos

    def read(self, name: str) -> bytes:
        """A member's bytes.

        Raises:
            RejectedError: ``corrupt`` for a missing or damaged member, ``encrypted`` for one behind a
                password, ``decompression_bomb`` when the budget is spent.
        """
        return b"".join(self.pieces(name))

    def pieces(self, name: str) -> Iterator[bytes]:
        """A member's bytes, piece by piece, for those who need not hold them; raises as :meth:`read`."""
        info = self._infos.get(name)
        if info is None:
            raise RejectedError("corrupt", f"The {self.what} lacks its part {name!r}.")
        if info.flag_bits & _ENCRYPTED_MEMBER:
            raise RejectedError("encrypted", f"{name!r} in the {self.what} is behind a password.")
        if info.compress_type not in _BOUNDED:
            raise RejectedError(
                "unsupported_type",
                f"{name!r} in the {self.what} is not packed by deflate; pack it again with a common tool.",
            )
        got = 0
        with _zip_faults(self.what), self._zip.open(info) as member:
            while piece := member.read(_STEP):
                got += len(piece)
                self.expanded += len(piece)
                self._check(name, got, info.compress_size)
                yield piece

    def _check(self, name: str, got: int, packed: int) -> None:
        if self.expanded > self._caps.expanded_bytes:
            raise _over_bytes(self.what, self._caps)
        _check_ratio(f"{name!r} in the {self.what}", got, packed, self._caps)


def gunzip(data: bytes, caps: Caps) -> bytes:
    """What a gzip file holds, all its members joined.

    Raises:
        RejectedError: ``corrupt`` or ``decompression_bomb``.
    """
    pieces: list[bytes] = []
    got = 0
    for piece in _gunzip_pieces(data):
        got += len(piece)
        if got > caps.expanded_bytes:
            raise _over_bytes("gzip file", caps)
        _check_ratio("The gzip file", got, len(data), caps)
        pieces.append(piece)
    return b"".join(pieces)


def member_name(info: zipfile.ZipInfo) -> str:
    """A member's name; one stored as UTF-8 without the flag that says so is read as what it is."""
    if info.flag_bits & _UTF8_NAME or info.filename.isascii():
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _gunzip_pieces(data: bytes) -> Iterator[bytes]:
    """Inflate member after member; zero bytes after the last one are padding."""
    end = len(data.rstrip(b"\0"))
    at = 0
    try:
        while at < end:
            inflater = zlib.decompressobj(wbits=31)
            rest = b""
            while not inflater.eof:
                if not rest:
                    # By windows: what is left of the input is copied each time.
                    rest = data[at : at + _STEP]
                    at += len(rest)
                piece = inflater.decompress(rest, _STEP)
                if not piece and not rest and not inflater.eof:
                    raise RejectedError("corrupt", "The gzip file ends in the middle of its data.")
                rest = inflater.unconsumed_tail
                yield piece
            at -= len(inflater.unused_data)
    except zlib.error as error:
        raise RejectedError("corrupt", f"The gzip file is damaged: {error}.") from error


def _check_ratio(what: str, got: int, packed: int, caps: Caps) -> None:
    if got > _RATIO_FROM and got > packed * caps.ratio:
        raise RejectedError(
            "decompression_bomb",
            f"{what} expands more than {caps.ratio} times (from {packed} bytes to over {got}).",
        )


def _over_bytes(what: str, caps: Caps) -> RejectedError:
    return RejectedError(
        "decompression_bomb", f"The {what} expands to more than the limit of {caps.expanded_bytes} bytes."
    )


@contextmanager
def _zip_faults(what: str) -> Iterator[None]:
    try:
        yield
    except (NotImplementedError, RuntimeError) as error:
        raise RejectedError("corrupt", f"The {what} is packed in an unknown way: {error}.") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, OverflowError) as error:
        raise RejectedError("corrupt", f"The {what} is damaged or cut off: {error}.") from error

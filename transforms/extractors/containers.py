"""Which of the formats that begin alike a file is: zip files and old office files, told apart by content."""

from __future__ import annotations

import io
import posixpath
import zipfile
from functools import lru_cache

from transforms.model.errors import RejectedError

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
EPUB = "application/epub+zip"
ZIP = "application/zip"
GZIP = "application/gzip"
EML = "message/rfc822"
RST = "text/x-rst"

ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
GZIP_MAGIC = b"\x1f\x8b"

_MAIN_PARTS = {"word/": DOCX, "ppt/": PPTX, "xl/": XLSX}
_BY_NAME = {
    ".docx": DOCX, ".docm": DOCX, ".dotx": DOCX,
    ".pptx": PPTX, ".pptm": PPTX, ".ppsx": PPTX,
    ".xlsx": XLSX, ".xlsm": XLSX,
    ".epub": EPUB,
}  # fmt: skip
_WRITTEN_AS = {DOCX: "DOCX", PPTX: "PPTX", XLSX: "XLSX", EPUB: "EPUB"}
_REPLACED_BY = {
    ".doc": "a Word file of the old format; save it as .docx",
    ".dot": "a Word file of the old format; save it as .docx",
    ".xls": "an Excel file of the old format; save it as .xlsx",
    ".ppt": "a PowerPoint file of the old format; save it as .pptx",
    ".pps": "a PowerPoint file of the old format; save it as .pptx",
    ".msg": "an Outlook message; save it as .eml",
    ".rtf": "an RTF file; save it as .docx",
    ".odt": "an OpenDocument text; save it as .docx",
    ".ods": "an OpenDocument workbook; save it as .xlsx",
    ".odp": "an OpenDocument presentation; save it as .pptx",
    ".xlsb": "a binary Excel workbook; save it as .xlsx",
}


def container_type(data: bytes, name: str) -> str | None:
    """The media type of a zip, gzip or old office file; None for what is none of them.

    Raises:
        RejectedError: ``encrypted`` or ``unsupported_type`` for an old office file, ``corrupt`` for what is
            named as an office file and is none.
    """
    if data.startswith(OLE_MAGIC):
        raise _old_office(data, name)
    if data.startswith(GZIP_MAGIC):
        return GZIP
    named = _BY_NAME.get(ending(name))
    if data.startswith(ZIP_MAGIC):
        return _zip_type(data, name) or named or ZIP
    if named is not None:
        what = _WRITTEN_AS[named]
        raise RejectedError("corrupt", f"The name says {what}, and the content is none. Replace the file.")
    return None


def remedy(name: str) -> str | None:
    """What to do about a file of a format that others replace; None for a format that is not known."""
    found = _REPLACED_BY.get(ending(name))
    return None if found is None else f"It is {found}."


@lru_cache(maxsize=16)
def ending(name: str) -> str:
    """A name's ending with its dot, in small letters; blanks and dots behind it, which nobody sees, are none of it.

    It is asked for several times of each file in turn.
    """
    return posixpath.splitext(posixpath.basename(name).rstrip(" ."))[1].lower()


def _zip_type(data: bytes, name: str) -> str | None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, OverflowError):
        return None
    if "META-INF/container.xml" in names and any(member.endswith(".opf") for member in names):
        return EPUB
    if "[Content_Types].xml" in names and ending(name) != ".zip":
        return next(
            (kind for folder, kind in _MAIN_PARTS.items() if any(n.startswith(folder) for n in names)), None
        )
    if "mimetype" in names and (said := remedy(name)):
        raise RejectedError("unsupported_type", said)
    return None


def _old_office(data: bytes, name: str) -> RejectedError:
    if "EncryptedPackage".encode("utf-16-le") in data:
        return RejectedError("encrypted", "The office file is behind a password; save it without one.")
    said = remedy(name) or "It is an office file of an old format; save it as .docx, .xlsx or .pptx."
    return RejectedError("unsupported_type", said)

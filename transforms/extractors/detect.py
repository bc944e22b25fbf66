"""What type a file is: by its content first, by its name where content cannot tell."""

from __future__ import annotations

import posixpath
import re

from transforms.extractors.code import CODE, language_of
from transforms.extractors.containers import EML, RST, container_type, ending, remedy
from transforms.extractors.delimited import CSV, TSV
from transforms.extractors.json_files import JSON, JSONL
from transforms.extractors.parquet_file import PARQUET
from transforms.model.errors import RejectedError

MARKDOWN, PLAIN, HTML, PDF = "text/markdown", "text/plain", "text/html", "application/pdf"
PICTURE = "image/*"
"""Pictures of any kind, whose text is read by OCR where that is asked for."""

_BY_NAME = {
    ".md": MARKDOWN, ".markdown": MARKDOWN, ".mdx": MARKDOWN,
    ".txt": PLAIN, ".text": PLAIN, ".log": PLAIN, "": PLAIN,
    ".adoc": PLAIN, ".org": PLAIN, ".srt": PLAIN, ".vtt": PLAIN,
    ".html": HTML, ".htm": HTML, ".xhtml": HTML,
    ".rst": RST, ".rest": RST, ".eml": EML, ".csv": CSV, ".tsv": TSV, ".tab": TSV, ".pdf": PDF,
    ".json": JSON, ".geojson": JSON, ".jsonl": JSONL, ".ndjson": JSONL, ".parquet": PARQUET,
}  # fmt: skip
_MARKED = (PDF, PARQUET)
"""Of these every file has a mark, which was looked for before the name."""
_OF_RECORDS = (JSONL, CSV, TSV, PARQUET)
_HTML_HEAD = re.compile(
    rb"\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype html|html[\s>])", re.IGNORECASE | re.DOTALL
)
_MAGIC = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"II*\0", "a TIFF picture"),
    (b"MM\0*", "a TIFF picture"),
    (b"BM", "a BMP picture"),
    (b"\0\0\1\0", "an icon"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"\xca\xfe\xba\xbe", "a compiled program"),
    (b"ID3", "a sound"),
    (b"OggS", "a sound"),
    (b"fLaC", "a sound"),
    (b"SQLite format 3", "a database"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ", "an xz file"),
    (b"\x28\xb5\x2f\xfd", "a zstd file"),
)
_INSIDE = (
    (4, b"ftyp", "a video"),
    (8, b"WEBP", "a WebP picture"),
    (8, b"WAVE", "a sound"),
    (257, b"ustar", "a tar archive"),
)
_TEXT_MAGIC = (b"BM", b"MZ", b"ID3")
"""Of these a text may begin as well: they count only beside bytes that no text has."""
_ANY_MAGIC = tuple(magic for magic, _ in _MAGIC)


def media_type(data: bytes, name: str) -> str:
    """The media type of a file that can be read.

    Raises:
        RejectedError: ``empty`` or ``unsupported_type``.
    """
    if not data.strip(b"\0\t\n\r\x0c "):
        raise RejectedError("empty", "The file has no content.")
    if data[:1024].lstrip().startswith(b"%PDF-"):
        return PDF
    container = container_type(data, name)
    if container is not None:
        return container
    if data.startswith(b"{\\rtf"):
        raise RejectedError("unsupported_type", "It is an RTF file; save it as .docx.")
    what = known_as(data)
    if what is not None and what.endswith(" picture"):
        return PICTURE
    if what is not None:
        raise RejectedError("unsupported_type", f"It is {what}, which is not read. {_REMEDY}")
    if data.startswith(b"PAR1") and data.endswith((b"PAR1", b"PARE")):
        return PARQUET
    if _HTML_HEAD.match(data[:4096].removeprefix(b"\xef\xbb\xbf")):
        return HTML
    return _type_by_name(name)


def _type_by_name(name: str) -> str:
    known = CODE if language_of(name) else _BY_NAME.get(ending(name))
    if known is None:
        said = remedy(name) or f"Files ending in {ending(name)} are not read yet. {_REMEDY}"
        raise RejectedError("unsupported_type", said)
    if known in _MARKED:
        raise RejectedError(
            "corrupt", f"The name ends in {ending(name)}, and the content is no such file. Replace it."
        )
    return known


def record_type(name: str) -> str | None:
    """The media type that a name says, if files of it can be read in ranges of records."""
    kind = _BY_NAME.get(ending(name))
    return kind if kind in _OF_RECORDS else None


def reads_alike(one: str, other: str) -> bool:
    """Whether the same bytes are read in the same way under both names: what the names say is equal."""
    return _said(one) == _said(other)


def _said(name: str) -> tuple[str, str | None]:
    base = posixpath.basename(name).lower()
    # What is inside a gzip file is read by the name that is left.
    return base.partition(".")[2], language_of(base.removesuffix(".gz").removesuffix(".gzip"))


def known_as(data: bytes) -> str | None:
    """What a file of a format that is not read is, by its first bytes."""
    binary = b"\0" in data[:512]
    if data.startswith(_ANY_MAGIC):
        for magic, what in _MAGIC:
            if data.startswith(magic) and (binary or magic not in _TEXT_MAGIC):
                return what
    if not binary:
        return None
    return next((what for at, magic, what in _INSIDE if data.startswith(magic, at)), None)


_REMEDY = "Convert it to a format that is read, as PDF or text, or leave it out with `exclude`."

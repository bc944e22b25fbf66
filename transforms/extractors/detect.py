"""What type a file is: by its content first, by its name where content cannot tell."""

from __future__ import annotations

import re

from transforms.extractors.containers import EML, RST, container_type, ending, remedy
from transforms.model.errors import RejectedError

MARKDOWN, PLAIN, HTML, PDF, CSV, TSV = (
    "text/markdown", "text/plain", "text/html", "application/pdf", "text/csv", "text/tab-separated-values",
)  # fmt: skip

_BY_NAME = {
    ".md": MARKDOWN, ".markdown": MARKDOWN, ".mdx": MARKDOWN,
    ".txt": PLAIN, ".text": PLAIN, ".log": PLAIN, "": PLAIN,
    ".html": HTML, ".htm": HTML, ".xhtml": HTML,
    ".rst": RST, ".rest": RST, ".eml": EML, ".csv": CSV, ".tsv": TSV, ".tab": TSV, ".pdf": PDF,
}  # fmt: skip
_HTML_HEAD = re.compile(
    rb"\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype html|html[\s>])", re.IGNORECASE | re.DOTALL
)
_MAGIC = (
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"\x7fELF", "a program"),
)


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
    for magic, what in _MAGIC:
        if data.startswith(magic):
            raise RejectedError("unsupported_type", f"It is {what}, which is not read yet. {_REMEDY}")
    if _HTML_HEAD.match(data[:4096].removeprefix(b"\xef\xbb\xbf")):
        return HTML
    known = _BY_NAME.get(ending(name))
    if known is None:
        said = remedy(name) or f"Files ending in {ending(name)} are not read yet. {_REMEDY}"
        raise RejectedError("unsupported_type", said)
    if known == PDF:
        raise RejectedError(
            "corrupt", "The name ends in .pdf, and the content is no PDF. Replace the file."
        )
    return known


_REMEDY = "Convert it to Markdown, HTML, PDF, CSV or text, or leave it out with `exclude`."

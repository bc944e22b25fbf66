"""Reads the parts of a Word file that are files of other formats, which Word takes into the text when it opens it.

Programs that report or export write whole documents so: as HTML, as HTML in a mail, as text, or as another Word file.
"""

from __future__ import annotations

import contextlib
import email
import email.policy
import re
from typing import TYPE_CHECKING

from transforms.extractors.charset import encoding_called
from transforms.extractors.markdown_writer import MarkdownWriter
from transforms.extractors.members import inner
from transforms.model.errors import RejectedError

if TYPE_CHECKING:
    from transforms.extractors.ooxml import Package
    from transforms.extractors.settings import ExtractSettings

LEFT_OUT = "part_left_out"
"""Warning: a part of the text that cannot be read, with the reason."""
_MAIL = re.compile(rb"\A\s*(?:MIME-Version|Content-Type):", re.IGNORECASE)
_BOMB = "decompression_bomb"


def write_chunk(package: Package, target: str, settings: ExtractSettings, out: MarkdownWriter) -> str:
    """Write the text of a part; the warning that it has none, or nothing.

    Raises:
        RejectedError: ``decompression_bomb``.
    """
    from transforms.extractors.registry import extract

    try:
        data, name = _unwrapped(package.archive.read(target), target)
        within = inner(settings, package.archive.expanded, "part of the Word file")
        own = {"main_content": False, "detect_language": False, "encoding": None}
        within = within.model_copy(update=own)
        for document in extract(data, name, within).documents:
            if document.media_type == "text/plain":
                for paragraph in document.text.split("\n\n"):
                    out.paragraph(paragraph)
            else:
                out.markdown(document.text)
    except RejectedError as error:
        if error.reason == _BOMB:
            raise
        return f"{LEFT_OUT}:{error.reason}: {target}"
    return ""


def _unwrapped(data: bytes, name: str) -> tuple[bytes, str]:
    """A page out of the mail that it is in, in UTF-8; all else as it is."""
    if not _MAIL.match(data):
        return data, name
    message = email.message_from_bytes(data, policy=email.policy.default)
    pages = [part for part in message.walk() if part.get_content_type() == "text/html"]
    if not pages:
        return data, name
    page = pages[0].get_payload(decode=True)
    page = page if isinstance(page, bytes) else b""
    with contextlib.suppress(LookupError, ValueError):
        page = page.decode(encoding_called(pages[0].get_content_charset() or "") or "").encode()
    return page, f"{name}.html"

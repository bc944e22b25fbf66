"""Reads mails: the subject is the heading, one wording of the body the text, attachments documents.

Sender, recipients and date are metadata. Where a body has several wordings, plain text is taken unless the
HTML says far more; pictures that the HTML shows inside itself are not attachments.
"""

from __future__ import annotations

import codecs
import contextlib
import email
import email.errors
import email.policy
import functools
import mimetypes
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import EmailMessage, Message
from typing import TYPE_CHECKING, Any, cast

from transforms.extractors.charset import DAMAGED_UTF8, decode, encoding_called
from transforms.extractors.containers import EML
from transforms.extractors.extraction import Extraction, RefusedPart, joined
from transforms.extractors.language import with_language
from transforms.extractors.markdown_writer import one_line
from transforms.extractors.members import Member, inner, member_documents
from transforms.model.document import Block, BlockKind, Document, JsonValue, canonical_text
from transforms.model.errors import RejectedError
from transforms.model.ids import id_part
from transforms.structure.blocks import parse_blocks

if TYPE_CHECKING:
    from transforms.extractors.settings import ExtractSettings

_ADDRESSES = {"from": "from", "to": "to", "cc": "cc"}
_HEADERS = re.compile(
    rb"^(?:from|to|subject|date|message-id|received|return-path|mime-version|content-type|x-[\w-]+):",
    re.IGNORECASE | re.MULTILINE,
)
_HEAD = 65_536
_HEADER_AT_MOST = 16_384
"""Characters of a header that are read: some hundred recipients."""
_WESTERN = "cp1252"
"""What ISO 8859-1 is read as."""
_ASCII = ("us-ascii", "ascii")
_FAR_MORE = 3
"""HTML with so many times the letters of its plain text says what the plain text leaves out."""
_ENCRYPTED = ("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime")
_HEADER_FAULTS = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RecursionError,
    email.errors.MessageError,
)
"""What the standard library raises for headers that break the rules, by its own bug reports, or that nest comments."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Canonical text that ends in a line break, or none, with its blocks."""

    text: str
    blocks: tuple[Block, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Body:
    """A text part as it is sent: its type (``plain`` or ``html``), and what is to be said of its charset."""

    kind: str
    text: str
    warnings: tuple[str, ...] = ()


class _Policy(email.policy.EmailPolicy):
    """The standard one, for headers that nobody vouches for.

    Parsing a header takes time in proportion to the square of its length, and is done anew each time one is asked for.
    """

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_HEADER_AT_MOST]

    def header_fetch_parse(self, name: str, value: str) -> Any:
        return value if hasattr(value, "name") else _parsed(name, value)


@functools.lru_cache(maxsize=64)
def _parsed(name: str, value: str) -> Any:
    return email.policy.default.header_fetch_parse(name, value)


_POLICY = _Policy()


@dataclass(slots=True)
class _Content:
    """What a part of a message holds: pieces of body in order, and attachments."""

    bodies: list[_Body] = field(default_factory=list)
    attachments: list[Message] = field(default_factory=list)

    def add(self, other: _Content) -> None:
        self.bodies += other.bodies
        self.attachments += other.attachments

    def letters(self, kind: str) -> int:
        return sum(len(_letters(body.text, kind)) for body in self.bodies if body.kind == kind)


def extract_eml(data: bytes, name: str, settings: ExtractSettings) -> Extraction:  # noqa: ARG001
    """The mail as a document, then those of its attachments, ``record`` being the attachment's name.

    Raises:
        RejectedError: ``corrupt`` for what has no header of a mail, ``encrypted``, or ``no_text``.
    """
    data = data.removeprefix(codecs.BOM_UTF8)
    if not _HEADERS.search(data[:_HEAD]):
        raise RejectedError("corrupt", "The file has no header of a mail.")
    try:
        message = cast("EmailMessage", email.message_from_bytes(data, policy=_POLICY))
        content = _content(message)
    except RecursionError as error:
        raise RejectedError("corrupt", "The mail nests its parts deeper than any program does.") from error
    if not content.bodies and any(part.get_content_type() in _ENCRYPTED for part in message.walk()):
        raise RejectedError("encrypted", "The mail is encrypted; export it decrypted.")
    own = _mail(message, content, settings)
    attached = _attached(content.attachments, settings)
    if own is not None:
        return joined([Extraction((own,)), attached])
    if not attached.documents and not attached.refused:
        raise RejectedError("no_text", "The mail has no text.")
    return attached


def _attached(attachments: list[Message], settings: ExtractSettings) -> Extraction:
    try:
        level = inner(settings, 0, "mail's attachments") if attachments else settings
    except RejectedError as error:
        names = (member.name for member in _members(attachments))
        return Extraction(
            (), tuple(RefusedPart(id_part(name), error.reason, error.detail) for name in names)
        )
    return member_documents(_members(attachments), level)


def _mail(message: EmailMessage, content: _Content, settings: ExtractSettings) -> Document | None:
    """The mail itself, with the names of what is attached; None when it has no text at all."""
    subject = _header(message, "subject")
    pieces: list[_Piece] = []
    if subject:
        heading = Block(BlockKind.HEADING, 0, len(subject) + 2, level=1, title=subject)
        pieces.append(_Piece(f"# {subject}\n", (heading,)))
    pieces += [_body(body, settings) for body in content.bodies]
    names = ", ".join(filter(None, map(_file_name, content.attachments)))
    if names:
        pieces.append(_plain(f"Attachments: {names}"))
    text = _joined(pieces)
    if not text.text:
        return None
    document = Document(
        text.text,
        text.blocks,
        EML,
        "eml/1",
        title=subject or None,
        metadata=_metadata(message),
        warnings=tuple(dict.fromkeys(text.warnings)),
    )
    return with_language(document) if settings.detect_language else document


def _joined(pieces: list[_Piece]) -> _Piece:
    """Pieces with a blank line between them."""
    text = ""
    blocks: list[Block] = []
    warnings: tuple[str, ...] = ()
    for piece in pieces:
        warnings += piece.warnings
        if not piece.text.strip():
            continue
        text += "\n" if text else ""
        blocks += [
            block._replace(start=block.start + len(text), end=block.end + len(text))
            for block in piece.blocks
        ]
        text += piece.text
    return _Piece(text, tuple(blocks), warnings)


def _plain(text: str, warnings: tuple[str, ...] = ()) -> _Piece:
    text = canonical_text(text).strip("\n").rstrip() + "\n"
    return _Piece(text, parse_blocks(text, "plain"), warnings)


def _body(body: _Body, settings: ExtractSettings) -> _Piece:
    if body.kind == "plain":
        return _plain(body.text, body.warnings)
    from transforms.extractors.html import extract_html

    whole = settings.model_copy(update={"main_content": False, "encoding": "utf-8"})
    try:
        page = extract_html(body.text.encode("utf-8", "replace"), whole)
    except RejectedError as error:
        return _Piece("", (), (f"html_body_left_out:{error.reason}",))
    return _Piece(page.text, page.blocks, body.warnings + page.warnings)


def _content(part: Message) -> _Content:
    """What a part holds; of alternative wordings one."""
    found = _Content()
    kind = part.get_content_type()
    if kind == "multipart/alternative":
        wordings = [_content(child) for child in _children(part)]
        found.bodies = _best(wordings).bodies
        found.attachments = [attachment for wording in wordings for attachment in wording.attachments]
    elif part.get_content_maintype() == "multipart" and isinstance(part.get_payload(), str):
        # None of the boundaries that are stated is there, so that nobody knows what its parts are.
        found.bodies.append(_Body("plain", *_text(part)))
    elif part.get_content_maintype() == "multipart":
        for child in _children(part):
            found.add(_content(child))
        if kind == "multipart/related":
            found.attachments = [a for a in found.attachments if a.get_content_maintype() != "image"]
    elif kind in ("text/plain", "text/html") and not _is_attached(part):
        found.bodies.append(_Body(part.get_content_subtype(), *_text(part)))
    elif kind not in _ENCRYPTED and kind != "application/pgp-signature":
        found.attachments.append(part)
    return found


def _best(wordings: list[_Content]) -> _Content:
    """Plain text, unless the HTML says far more."""
    plain = max(wordings, key=lambda wording: wording.letters("plain"), default=_Content())
    rich = max(wordings, key=lambda wording: wording.letters("html"), default=_Content())
    return rich if rich.letters("html") > _FAR_MORE * plain.letters("plain") else plain


def _letters(text: str, kind: str) -> str:
    visible = re.sub(r"(?s)<(style|script)\b.*?</\1>|<[^>]*>", " ", text) if kind == "html" else text
    return "".join(visible.split())


def _children(part: Message) -> Iterator[Message]:
    payload = part.get_payload()
    if isinstance(payload, list):
        yield from (child for child in payload if isinstance(child, Message))


def _is_attached(part: Message) -> bool:
    return part.get_content_disposition() == "attachment" or bool(_file_name(part))


def _file_name(part: Message) -> str:
    try:
        return one_line(part.get_filename() or "")
    except _HEADER_FAULTS:
        return ""


def _text(part: Message) -> tuple[str, tuple[str, ...]]:
    """A text part's text: its own charset if that reads it, else what the bytes look like, with a warning."""
    data = part.get_payload(decode=True)
    data = data if isinstance(data, bytes) else b""
    text, warnings = _decoded(data, part.get_content_charset() or "utf-8")
    if part.get_param("format") == "flowed":
        text = _unflow(text, joined=part.get_param("delsp") == "yes")
    return text, warnings


def _decoded(data: bytes, charset: str) -> tuple[str, tuple[str, ...]]:
    """The text in the charset that is stated; ISO 8859-1 is said of anything, so UTF-8 is tried before."""
    stated = "ascii" if charset in _ASCII else encoding_called(charset)
    for name in ("utf-8", _WESTERN) if stated == _WESTERN else (stated,):
        with contextlib.suppress(LookupError, ValueError):
            return data.decode(name or ""), ()
    return _guessed(data)


def _guessed(data: bytes) -> tuple[str, tuple[str, ...]]:
    try:
        return decode(data)
    except RejectedError:
        return data.decode("utf-8", "replace"), (DAMAGED_UTF8,)


def _unflow(text: str, *, joined: bool) -> str:
    """Lines as their writer meant them: one that ends in a space goes on in the next (RFC 3676)."""
    lines: list[str] = []
    depth = -1
    for line in canonical_text(text).split("\n"):
        quotes, own = _quoted(line)
        if quotes == depth:
            lines[-1] += own
        else:
            lines.append(f"{'>' * quotes} {own}" if quotes else own)
        # The depth of quotation at which the next line goes on with this one, if it does.
        depth = quotes if own.endswith(" ") and own != "-- " else -1
        if depth >= 0 and joined:
            lines[-1] = lines[-1][:-1]
    return "\n".join(lines)


def _quoted(line: str) -> tuple[int, str]:
    """How deep a line is quoted, and what it says behind the marks and one space."""
    own = line.lstrip(">")
    return len(line) - len(own), own.removeprefix(" ")


def _members(attachments: list[Message]) -> Iterator[Member]:
    for number, part in enumerate(attachments, 1):
        kind = part.get_content_type()
        if kind == EML:
            message = _enclosed(part)
            if message is not None:
                subject = _header(message, "subject") or f"message {number}"
                yield Member(_file_name(part) or f"{subject}.eml", _message_bytes(message))
            continue
        data = part.get_payload(decode=True)
        ending = mimetypes.guess_extension(kind) or ""
        name = _file_name(part) or f"attachment {number}{ending}"
        yield Member(name, data if isinstance(data, bytes) else b"")


def _enclosed(part: Message) -> Message | None:
    """The message that a part holds; written in Base64, against the rules, it is parsed as if it had no headers."""
    message = next(_children(part), None)
    coding = str(part.get("content-transfer-encoding") or "").strip().lower()
    if message is None or message.keys() or coding != "base64":
        return message
    message["Content-Transfer-Encoding"] = coding
    data = message.get_payload(decode=True)
    return email.message_from_bytes(data, policy=_POLICY) if isinstance(data, bytes) else message


def _message_bytes(message: Message) -> bytes | RejectedError:
    """A message inside another, written out so that it is read like one in a file of its own."""
    try:
        return message.as_bytes()
    except _HEADER_FAULTS as error:
        return RejectedError("corrupt", f"The message inside the mail breaks the rules of mails: {error}.")


def _metadata(message: EmailMessage) -> dict[str, JsonValue]:
    stated = {name: _header(message, header) for name, header in _ADDRESSES.items()}
    stated["date"] = _date(message)
    stated["message_id"] = _header(message, "message-id")
    return {name: value for name, value in stated.items() if value}


def _header(message: Message, name: str) -> str:
    """A header's decoded value on one line; empty when there is none or it cannot be read."""
    try:
        return one_line(_unencoded(message, name) or str(message.get(name) or ""))
    except _HEADER_FAULTS:
        return ""


def _unencoded(message: Message, name: str) -> str:
    """A header that holds other bytes than ASCII, in UTF-8 or in the charset of the text; empty for all others."""
    raw = str(next((value for key, value in message.raw_items() if key.lower() == name), ""))
    if raw.isascii():
        return ""
    return _decoded(raw.encode("utf-8", "surrogateescape"), message.get_content_charset() or _ASCII[0])[0]


def _date(message: Message) -> str:
    """The date in ISO form with its offset; as it is written where it is no date."""
    try:
        moment = getattr(message.get("date"), "datetime", None)
    except _HEADER_FAULTS:
        return ""
    return _header(message, "date") if moment is None else str(moment.isoformat())

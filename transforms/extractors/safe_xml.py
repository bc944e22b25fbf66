"""Parses XML that nobody vouches for: no entities, no network, no document type, bounded depth."""

from __future__ import annotations

from typing import TypeAlias

from lxml import etree

from transforms.model.errors import RejectedError

Element: TypeAlias = etree._Element

_STRICT = b"http://purl.oclc.org/ooxml/"
_TRANSITIONAL = {
    b"http://purl.oclc.org/ooxml/officeDocument/relationships": (
        b"http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    ),
    b"http://purl.oclc.org/ooxml/wordprocessingml/main": (
        b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    ),
    b"http://purl.oclc.org/ooxml/presentationml/main": (
        b"http://schemas.openxmlformats.org/presentationml/2006/main"
    ),
    b"http://purl.oclc.org/ooxml/drawingml/": b"http://schemas.openxmlformats.org/drawingml/2006/",
    b"http://purl.oclc.org/ooxml/officeDocument/math": (
        b"http://schemas.openxmlformats.org/officeDocument/2006/math"
    ),
}


def parse_xml(data: bytes, what: str, *, doctype: bool = False) -> Element:
    """The root of an XML file, its comments and processing instructions left out.

    The names of strict office files are read as the common ones. ``doctype`` allows a document type
    declaration, whose entities stay unread all the same.

    Raises:
        RejectedError: ``corrupt`` for what is no XML, is nested deeper than 256 or declares a document
            type where none may be.
    """
    if not doctype and has_doctype(data):
        raise RejectedError("corrupt", f"{what} declares a document type, which such files may not do.")
    if _STRICT in data:
        for strict, common in _TRANSITIONAL.items():
            data = data.replace(strict, common)
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        collect_ids=False,
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise RejectedError("corrupt", f"{what} is not well-formed XML: {error}.") from error
    if root is None or (not doctype and root.getroottree().docinfo.internalDTD is not None):
        raise RejectedError("corrupt", f"{what} holds no plain XML.")
    return root


def has_doctype(start: bytes) -> bool:
    """Whether a document type is declared in the first bytes of an XML file, in any of its encodings."""
    return b"<!DOCTYPE" in start[:4096].replace(b"\0", b"")


def local_name(element: Element) -> str:
    """An element's name without its namespace; empty for an entity reference."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""

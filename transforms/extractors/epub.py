"""Reads EPUB books: the chapters in the order of the spine, each through the HTML extractor.

The navigation document is left out where there are chapters besides: its lines are their headings.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from transforms.extractors.containers import EPUB
from transforms.extractors.inflate import Archive
from transforms.extractors.markdown_writer import MarkdownWriter
from transforms.extractors.office import caps
from transforms.extractors.safe_xml import Element, local_name, parse_xml
from transforms.model.document import Document, JsonValue
from transforms.model.errors import RejectedError
from transforms.structure.blocks import parse_blocks

if TYPE_CHECKING:
    from transforms.extractors.settings import ExtractSettings

_CONTAINER = "META-INF/container.xml"
_RIGHTS = "META-INF/encryption.xml"
_NO_PAGES = ("image/", "audio/", "video/", "font/", "text/css", "text/javascript", "application/javascript")
_PAGES = (".xhtml", ".html", ".htm", ".xml")
_CONTENTS = "application/x-dtbncx+xml"
"""The old navigation document, which is no page."""
_METADATA = {"creator": "author", "date": "created", "publisher": "publisher", "subject": "subject"}


@dataclass(frozen=True, slots=True)
class _Item:
    path: str
    is_page: bool
    is_navigation: bool


def extract_epub(data: bytes, name: str, settings: ExtractSettings) -> Document:  # noqa: ARG001
    """The book as one document.

    Raises:
        RejectedError: ``corrupt``, ``encrypted``, ``decompression_bomb``, or ``no_text``.
    """
    archive = Archive(data, caps(settings), "EPUB")
    path = _package_path(archive)
    root = parse_xml(archive.read(path), "The EPUB's package file", doctype=True)
    items = _spine(root, posixpath.dirname(path))
    chapters = [item for item in items if not item.is_navigation] or items
    out = MarkdownWriter()
    warnings: list[str] = []
    for item in chapters:
        warnings += _chapter(archive, item, settings, out)
    text = out.text
    if not text:
        if _RIGHTS in archive and warnings:
            raise RejectedError("encrypted", "The EPUB is protected by rights management.")
        raise RejectedError("no_text", "The EPUB's chapters have no text.")
    stated = _stated(root)
    metadata: dict[str, JsonValue] = {
        _METADATA[key]: ", ".join(values) for key, values in stated.items() if key in _METADATA
    }
    return Document(
        text,
        parse_blocks(text, "markdown"),
        EPUB,
        "epub/1",
        title=next(iter(stated.get("title", ())), None),
        language=next(iter(stated.get("language", ())), None),
        metadata=metadata,
        warnings=tuple(warnings),
    )


def _package_path(archive: Archive) -> str:
    container = parse_xml(archive.read(_CONTAINER), "The EPUB's container file", doctype=True)
    for element in container.iter():
        if local_name(element) == "rootfile" and (path := element.get("full-path")):
            return path
    raise RejectedError("corrupt", "The EPUB does not say where its package file is.")


def _spine(root: Element, folder: str) -> list[_Item]:
    """The items of the book in reading order; those of a book that tells none in the order of its list."""
    items: dict[str, _Item] = {}
    order: list[str] = []
    for element in root.iter():
        if local_name(element) == "item":
            items[element.get("id", "")] = _item(element, folder)
        elif local_name(element) == "itemref":
            order.append(element.get("idref", ""))
    chapters = [items[key] for key in order if key in items and items[key].is_page]
    return chapters or [item for item in items.values() if item.is_page and item.path.endswith(_PAGES)]


def _item(element: Element, folder: str) -> _Item:
    path = posixpath.normpath(posixpath.join(folder, unquote(element.get("href", ""))))
    navigation = "nav" in element.get("properties", "").split()
    # Programs state other types for pages too, and what the spine names is to be read.
    kind = element.get("media-type", "").strip().lower()
    return _Item(path, not kind.startswith(_NO_PAGES) and kind != _CONTENTS, navigation)


def _chapter(
    archive: Archive, item: _Item, settings: ExtractSettings, out: MarkdownWriter
) -> Iterator[str]:
    """Write a chapter; yields a warning where it is damaged, missing or locked."""
    from transforms.extractors.html import extract_html

    try:
        page = extract_html(archive.read(item.path), settings.model_copy(update={"main_content": False}))
    except RejectedError as error:
        if error.reason == "decompression_bomb":
            raise
        if error.reason not in ("no_text", "empty"):
            yield f"chapter_left_out:{error.reason}: {item.path}"
        return
    out.markdown(page.text)


def _stated(root: Element) -> dict[str, list[str]]:
    """What the package's metadata say, by the names of Dublin Core."""
    stated: dict[str, list[str]] = {}
    for group in root:
        if local_name(group) == "metadata":
            for element in group:
                text = " ".join((element.text or "").split())
                if text:
                    stated.setdefault(local_name(element), []).append(text)
    return stated

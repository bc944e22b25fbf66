"""What is read out of EPUB books."""

from collections.abc import Callable, Mapping

import pytest

from transforms.extractors.epub import extract_epub
from transforms.extractors.settings import ExtractSettings
from transforms.model.document import Document
from transforms.model.errors import RejectedError

Zipped = Callable[[Mapping[str, str | bytes]], bytes]

CONTAINER = '<container><rootfiles><rootfile full-path="EPUB/book.opf"/></rootfiles></container>'


def package(items: str, spine: str) -> str:
    metadata = (
        '<metadata xmlns:dc="dc"><dc:title>The Rover</dc:title><dc:creator>Ada</dc:creator>'
        "<dc:creator>Bo</dc:creator><dc:language>en</dc:language></metadata>"
    )
    return (
        f"<!DOCTYPE package><package>{metadata}<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )


def item(key: str, href: str, properties: str = "") -> str:
    return f'<item id="{key}" href="{href}" media-type="application/xhtml+xml" properties="{properties}"/>'


def page(body: str) -> str:
    return f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>{body}</body></html>'


def read(data: bytes) -> Document:
    return extract_epub(data, "a.epub", ExtractSettings())


def test_chapters_follow_the_spine_and_not_the_archive(zipped: Zipped) -> None:
    items = item("a", "text/one%20a.xhtml") + item("b", "two.xhtml") + item("n", "nav.xhtml", "nav")
    data = zipped(
        {
            "META-INF/container.xml": CONTAINER,
            "EPUB/two.xhtml": page("<h1>First</h1><p>1.</p>"),
            "EPUB/text/one a.xhtml": page("<h1>Second</h1><p>2.</p>"),
            "EPUB/nav.xhtml": page("<nav><ol><li>First</li></ol></nav>"),
            "EPUB/book.opf": package(items, '<itemref idref="n"/><itemref idref="b"/><itemref idref="a"/>'),
        }
    )
    document = read(data)
    assert document.text == "# First\n\n1.\n\n# Second\n\n2.\n"
    assert (document.title, document.language, document.metadata) == (
        "The Rover",
        "en",
        {"author": "Ada, Bo"},
    )


def test_a_chapter_that_is_missing_is_a_warning(zipped: Zipped) -> None:
    items = item("a", "a.xhtml") + item("b", "b.xhtml")
    data = zipped(
        {
            "META-INF/container.xml": CONTAINER,
            "EPUB/a.xhtml": page("<p>There.</p>"),
            "EPUB/book.opf": package(items, '<itemref idref="a"/><itemref idref="b"/>'),
        }
    )
    document = read(data)
    assert (document.text, document.warnings) == ("There.\n", ("chapter_left_out:corrupt: EPUB/b.xhtml",))


def test_a_book_without_a_package_is_corrupt(zipped: Zipped) -> None:
    with pytest.raises(RejectedError, match="corrupt"):
        read(zipped({"META-INF/container.xml": "<container/>"}))


def test_a_declaration_that_stands_in_the_wrong_place_is_passed_over(zipped: Zipped) -> None:
    data = zipped(
        {
            "META-INF/container.xml": CONTAINER,
            "EPUB/a.xhtml": '<!-- x --><?xml version="1.0" encoding="utf-8"?>' + page("<p>T\u00fcr.</p>"),
            "EPUB/book.opf": package(item("a", "a.xhtml"), '<itemref idref="a"/>'),
        }
    )
    assert read(data).text == "T\u00fcr.\n"


def test_pages_are_read_whatever_type_is_stated_and_pictures_are_none(zipped: Zipped) -> None:
    odd = "".join(
        f'<item id="{key}" href="{key}.xhtml" media-type="{kind}"/>'
        for key, kind in (("a", "text/xml"), ("b", "Application/XHTML+XML"), ("c", ""))
    )
    cover = '<item id="p" href="p.svg" media-type="image/svg+xml"/>'
    spine = "".join(f'<itemref idref="{key}"/>' for key in "pcab")
    data = zipped(
        {
            "META-INF/container.xml": CONTAINER,
            "EPUB/book.opf": package(odd + cover, spine),
            "EPUB/p.svg": "<svg/>",
            **{f"EPUB/{key}.xhtml": page(f"<p>{key.upper()}.</p>") for key in "abc"},
        }
    )
    assert (read(data).text, read(data).warnings) == ("C.\n\nA.\n\nB.\n", ())


def test_a_book_that_tells_no_order_is_read_in_that_of_its_list(zipped: Zipped) -> None:
    items = item("n", "nav.xhtml", "nav") + item("b", "b.xhtml") + item("a", "a.xhtml")
    data = zipped(
        {
            "META-INF/container.xml": CONTAINER,
            "EPUB/book.opf": package(items, ""),
            "EPUB/nav.xhtml": page("<nav>Contents</nav>"),
            "EPUB/a.xhtml": page("<p>A.</p>"),
            "EPUB/b.xhtml": page("<p>B.</p>"),
        }
    )
    assert read(data).text == "B.\n\nA.\n"

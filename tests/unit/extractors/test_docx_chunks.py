"""Parts of a Word file that are files of other formats."""

import io
import zipfile
from collections.abc import Callable

import pytest

from tests.support.office_files import RELATIONS, make_docx, relations, zip_of
from transforms.extractors.office import extract_docx
from transforms.extractors.settings import ExtractSettings
from transforms.model.document import Document
from transforms.model.errors import RejectedError

HEAD = b"MIME-Version: 1.0\nContent-Type: multipart/related; type=text/html; boundary=b\n\n--b\n"


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def read(name: str, chunk: bytes, **settings: object) -> Document:
    body = paragraph("Before.") + '<w:altChunk r:id="c"/>' + paragraph("After.")
    with zipfile.ZipFile(io.BytesIO(make_docx(body))) as archive:
        members = {each: archive.read(each) for each in archive.namelist()}
    links = relations(("c", f"{RELATIONS}/aFChunk", name))
    data = zip_of({**members, f"word/{name}": chunk, "word/_rels/document.xml.rels": links})
    return extract_docx(data, "a.docx", ExtractSettings.model_validate(settings))


@pytest.mark.parametrize(
    ("name", "chunk", "text"),
    [
        (
            "a.html",
            b"<html><body><h2>Sizes</h2><ul><li>M4<li>M5</ul></body></html>",
            "## Sizes\n\n- M4\n- M5",
        ),
        ("a.txt", "Gr\u00fc\u00dfe\n\n# no heading".encode(), "Gr\u00fc\u00dfe\n\n\\# no heading"),
        (
            "a.mht",
            HEAD
            + b'Content-Type: text/html; charset="iso-8859-1"\nContent-Transfer-Encoding: quoted-printable\n\n'
            b"<html><body><p>T=FCr =80</p></body></html>\n--b--\n",
            "T\u00fcr \u20ac",
        ),
        ("a.docx", make_docx(paragraph("Inside.")), "Inside."),
    ],
)
def test_the_text_of_a_part_stands_in_its_place(name: str, chunk: bytes, text: str) -> None:
    document = read(name, chunk)
    assert (document.text, document.warnings) == (f"Before.\n\n{text}\n\nAfter.\n", ())


def test_a_part_that_cannot_be_read_is_a_warning() -> None:
    document = read("a.rtf", b"{\\rtf1 x}")
    assert document.text == "Before.\n\nAfter.\n"
    assert document.warnings == ("part_left_out:unsupported_type: word/a.rtf",)


def test_parts_do_not_nest_without_end(zipped: Callable[..., bytes]) -> None:
    inside = make_docx(paragraph("Inside."))
    assert read("a.docx", inside, max_nesting=0).warnings == ("part_left_out:too_deep: word/a.docx",)
    with pytest.raises(RejectedError, match="decompression_bomb"):
        read("a.docx", make_docx(paragraph("x" * 100_000)), max_expanded_bytes=50_000)

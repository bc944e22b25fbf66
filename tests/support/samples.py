"""One small file of every format that is read, made here, with one of everything its reader looks at."""

import email.message
import gzip
import io
import struct
import zlib

import pyarrow as pa
import pyarrow.parquet as pq

from tests.support.office_files import make_docx, make_pptx, make_xlsx, zip_of
from tests.support.pdf_files import at, lines, make_pdf

_TEXT = {
    "a.md": b"---\ntitle: x\n---\n# A\n\n- b\n\n| c | d |\n| --- | --- |\n| e | f |\n\n```py\ng\n```\n",
    "a.txt": "Grüße: “so” — naïve\n\nZweiter Absatz.\n".encode("cp1252"),
    "a.html": b"<html lang=en><title>t</title><body><h1>A</h1><table><tr><td rowspan=2>b<td>c</table><pre>d</pre>",
    "a.json": b'[{"a": 1.5e300, "b": [true, null, {"c": "\\ud83d\\ude00"}]}]',
    "a.jsonl": b'{"a": 1}\n\n{"b": "x"}\n',
    "a.csv": 'a;b\n"1\n2";"3"\n'.encode("utf-16"),
    "a.tsv": b"a\tb\n1\t\xe9\n",
    "a.py": "# coding: koi8-r\nx = 'Познание'\n\ndef f():\n    pass\n".encode("koi8_r"),
    "a.rst": b"A\n=\n\n.. code:: py\n\n   x\n\n.. note:: a\n\n   - b :ref:`c <d>`\n\n====  ====\na     b\n====  ====\n"
    b"1     2\n====  ====\n\n+---+---+\n| a | b |\n+---+---+\n\n.. [1] Note.\n",
    "a.txt.gz": gzip.compress(b"words " * 50, mtime=0),
    "a.pdf": make_pdf(
        lines("A page of words", "and a line - with a hyph-", "en at its end") + at(60, 40, "Page 1"),
        "50 700 m 300 700 l S 50 650 m 300 650 l S 50 600 m 300 600 l S 50 600 m 50 700 l S 300 600 m 300 700 l S "
        "150 600 m 150 700 l S"
        + at(60, 670, "a")
        + at(160, 670, "b")
        + at(60, 620, "c")
        + at(160, 620, "d"),
        info="/Title(T)/CreationDate(D:20240102030405Z)",
    ),
}
_DOCX = (
    '<w:p><w:pPr><w:outlineLvl w:val="0"/><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>a</w:t></w:r>'
    '</w:p><w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/><w:vMerge/></w:tcPr><w:p/></w:tc></w:tr></w:tbl>'
)
_SLIDE = "<p:sp><p:nvSpPr><p:cNvPr/><p:nvPr/></p:nvSpPr><p:txBody><a:p><a:r><a:t>a</a:t></a:r></a:p></p:txBody></p:sp>"
_SHEET = '<sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData>'
_EPUB = {
    "META-INF/container.xml": '<container><rootfiles><rootfile full-path="p.opf"/></rootfiles></container>',
    "p.opf": '<package><metadata><title>T</title></metadata><manifest><item id="c" href="c.xhtml" '
    'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c"/></spine></package>',
    "c.xhtml": "<html><body><h1>A</h1><p>words</p></body></html>",
}


def sample_files() -> dict[str, bytes]:
    """The files by name; the ending tells the format."""
    mail = _mail()
    return _TEXT | {
        "a.docx": make_docx(_DOCX),
        "a.pptx": make_pptx(_SLIDE, notes={1: _SLIDE}),
        "a.xlsx": make_xlsx({"S": _SHEET}),
        "a.zip": zip_of({"a.txt": "A", "b.eml": mail, "c/d.jsonl": b'{"a": 1}\n'}),
        "a.epub": zip_of(_EPUB),
        "a.eml": mail,
        "a.parquet": _parquet(),
        "a.png": _picture(),
    }


def _mail() -> bytes:
    message = email.message.EmailMessage()
    message["Subject"] = "Gr\u00fc\u00dfe"
    message.set_content("Text.")
    message.add_alternative("<p>Text, <b>rich</b>.</p>", subtype="html")
    message.add_attachment("Inside.", filename="a.txt")
    # Else they are drawn by chance.
    for part in message.walk():
        if part.is_multipart():
            part.set_boundary(f"==={part.get_content_subtype()}===")
    return message.as_bytes()


def _parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({"a": ["x", None], "b": [{"c": 1}, {"c": 2}]}), sink)
    return sink.getvalue()


def _picture() -> bytes:
    """A white dot as PNG."""
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(b"\0\xff")),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )

"""Whatever is done to a file's bytes, it ends in documents or in a named rejection, never in another error.

PARQUETRY_FUZZ_VARIANTS says how many damaged files are read in all; they are the same in every run.
"""

import email.message
import gzip
import io
import json
import os
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.pdf_files import at, lines, make_pdf
from transforms.extractors.extraction import Extraction
from transforms.extractors.isolate import ReaderProcess
from transforms.extractors.reasons import BUG, REASONS
from transforms.extractors.registry import extract
from transforms.extractors.settings import ExtractSettings
from transforms.model.document import Document
from transforms.model.errors import RejectedError

SETTINGS = ExtractSettings(max_expanded_bytes=4 << 20, max_pages=50, max_seconds=20)
VARIANTS = int(os.environ.get("PARQUETRY_FUZZ_VARIANTS", "200"))
SHARED = Path(os.environ.get("PARQUETRY_HARD_FILES", Path(__file__).parents[4] / "shared" / "files"))
HARD = sorted(path for path in SHARED.glob("*/*") if path.is_file()) if SHARED.is_dir() else []
IN_PROCESS = ("pdf", "xlsx", "parquet")
"""Read by native code, whose faults may end a process: in one of its own, as in the job."""

Make = Callable[..., bytes]

PLAIN = {
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
DOCX = (
    '<w:p><w:pPr><w:outlineLvl w:val="0"/><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>a</w:t></w:r>'
    '</w:p><w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/><w:vMerge/></w:tcPr><w:p/></w:tc></w:tr></w:tbl>'
)
SLIDE = "<p:sp><p:nvSpPr><p:cNvPr/><p:nvPr/></p:nvSpPr><p:txBody><a:p><a:r><a:t>a</a:t></a:r></a:p></p:txBody></p:sp>"
SHEET = '<sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData>'
EPUB = {
    "META-INF/container.xml": '<container><rootfiles><rootfile full-path="p.opf"/></rootfiles></container>',
    "p.opf": '<package><metadata><title>T</title></metadata><manifest><item id="c" href="c.xhtml" '
    'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c"/></spine></package>',
    "c.xhtml": "<html><body><h1>A</h1><p>words</p></body></html>",
}


@pytest.fixture(scope="module")
def reader() -> Iterator[ReaderProcess]:
    process = ReaderProcess()
    yield process
    process.close()


@pytest.fixture
def samples(make_docx: Make, make_pptx: Make, make_xlsx: Make, zipped: Make) -> Mapping[str, bytes]:
    """One file of every format, the hard ones besides where their folder is present."""
    message = email.message.EmailMessage()
    message["Subject"] = "Gr\u00fc\u00dfe"
    message.set_content("Text.")
    message.add_alternative("<p>Text, <b>rich</b>.</p>", subtype="html")
    message.add_attachment("Inside.", filename="a.txt")
    table = io.BytesIO()
    pq.write_table(pa.table({"a": ["x", None], "b": [{"c": 1}, {"c": 2}]}), table)
    made = {
        "a.docx": make_docx(DOCX),
        "a.pptx": make_pptx(SLIDE, notes={1: SLIDE}),
        "a.xlsx": make_xlsx({"S": SHEET}),
        "a.zip": zipped({"a.txt": "A", "b.eml": message.as_bytes(), "c/d.jsonl": b'{"a": 1}\n'}),
        "a.epub": zipped(EPUB),
        "a.eml": message.as_bytes(),
        "a.parquet": table.getvalue(),
    }
    hard = {path.name: path.read_bytes() for path in HARD}
    return PLAIN | made | hard


def damaged(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """Cut, flip, insert, repeat, leave out, or join with another file."""
    body = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        if not body:
            break
        place = chance.randrange(len(body))
        match chance.randrange(6):
            case 0:
                del body[place:]
            case 1:
                body[place] ^= 1 << chance.randrange(8)
            case 2:
                body[place:place] = bytes(chance.randrange(256) for _ in range(chance.randrange(9)))
            case 3:
                body += body[place : place + 4096]
            case 4:
                body[place:] = other[chance.randrange(len(other) or 1) :][:100_000]
            case _:
                del body[place : place + chance.randrange(1, 64)]
    return bytes(body)


def check(data: bytes, name: str, reader: ReaderProcess) -> None:
    try:
        found = read(data, name, reader)
    except RejectedError as refused:
        hold_reason(refused.reason, refused.detail, name)
        return
    assert found.documents
    for document in found.documents:
        hold(document)
    for part in found.refused:
        hold_reason(part.reason, part.detail, name)


def read(data: bytes, name: str, reader: ReaderProcess) -> Extraction:
    if name.endswith(IN_PROCESS):
        return reader.extract(data, name, SETTINGS)
    return extract(data, name, SETTINGS)


def hold_reason(reason: str, detail: str, name: str) -> None:
    assert reason in REASONS
    assert reason != BUG, f"{name}: {detail}"
    assert detail


def hold(document: Document) -> None:
    """The laws of a document."""
    text = document.text
    assert text.strip()
    text.encode()
    assert "\0" not in text
    assert "\r" not in text
    end = 0
    outside = []
    for block in document.blocks:
        assert end <= block.start < block.end <= len(text)
        outside.append(text[end : block.start])
        end = block.end
    assert not "".join([*outside, text[end:]]).strip()
    assert all(0 <= page.start <= page.end <= len(text) for page in document.pages)
    json.dumps(dict(document.metadata))


def test_every_sample_is_read_as_it_is(samples: Mapping[str, bytes], reader: ReaderProcess) -> None:
    for name in [*PLAIN, "a.docx", "a.pptx", "a.xlsx", "a.zip", "a.epub", "a.eml", "a.parquet"]:
        assert read(samples[name], name, reader).documents


@pytest.mark.parametrize("part", range(4))
def test_damaged_files_end_in_documents_or_in_a_named_rejection(
    part: int, samples: Mapping[str, bytes], reader: ReaderProcess
) -> None:
    names = sorted(samples)
    for number in range(part, VARIANTS, 4):
        chance = random.Random(number)
        name = names[number % len(names)]
        other = samples[chance.choice(names)]
        check(damaged(samples[name], other, chance), name, reader)


@pytest.mark.skipif(not HARD, reason="needs the folder of hard files: PARQUETRY_HARD_FILES")
def test_the_hard_files_are_among_the_samples(samples: Mapping[str, bytes]) -> None:
    assert len(samples) > 60

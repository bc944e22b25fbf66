"""Damaged files of every format end as documents or as a named rejection, never as another error."""

import gzip
import json
import os
import random
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from transforms.extractors.reasons import BUG, REASONS
from transforms.extractors.registry import extract
from transforms.extractors.settings import ExtractSettings
from transforms.model.document import Document
from transforms.model.errors import RejectedError

SETTINGS = ExtractSettings(max_expanded_bytes=4 << 20, max_pages=50)
VARIANTS = int(os.environ.get("PARQUETRY_FUZZ", "12"))
"""Of each sample."""
SHARED = Path(os.environ.get("PARQUETRY_HARD_FILES", Path(__file__).parents[4] / "shared" / "files"))

SAMPLES = {
    "a.md": b"---\ntitle: x\n---\n# A\n\n- b\n\n| c | d |\n| --- | --- |\n| e | f |\n\n```py\ng\n```\n",
    "a.html": b"<html lang=en><title>t</title><body><h1>A</h1><table><tr><td rowspan=2>b<td>c</table><pre>d</pre>",
    "a.json": b'[{"a": 1.5e300, "b": [true, null, {"c": "\\ud83d\\ude00"}]}]',
    "a.jsonl": b'{"a": 1}\n\n{"b": "x"}\n',
    "a.csv": 'a;b\n"1\n2";"3"\n'.encode("utf-16"),
    "a.py": "# coding: koi8-r\nx = 'Познание'\n\ndef f():\n    pass\n".encode("koi8_r"),
    "a.rst": b"A\n=\n\n.. code:: py\n\n   x\n\n.. note:: y\n\n====  ====\na     b\n====  ====\n1     2\n====  ====\n",
    "a.eml": b"From: a@b\r\nSubject: =?utf-8?b?w6k=?=\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n"
    b"--x\r\nContent-Type: text/plain\r\n\r\nhi\r\n--x\r\nContent-Type: text/csv\r\nContent-Disposition: attachment;"
    b" filename=t.csv\r\n\r\na,b\r\n1,2\r\n--x--\r\n",
    "a.txt.gz": gzip.compress(b"words " * 50, mtime=0),
}


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Cut, flip, repeat, or join with itself."""
    body = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        if not body:
            break
        place = chance.randrange(len(body))
        match chance.randrange(5):
            case 0:
                del body[place:]
            case 1:
                body[place] ^= 1 << chance.randrange(8)
            case 2:
                body[place:place] = bytes(chance.randrange(256) for _ in range(chance.randrange(9)))
            case 3:
                body += body[place : place + 4096]
            case _:
                del body[place : place + chance.randrange(1, 64)]
    return bytes(body)


def check(data: bytes, name: str) -> None:
    documents, refused = outcome(data, name)
    for document in documents:
        hold(document)
    if refused is not None:
        assert refused.reason in REASONS
        assert refused.reason != BUG, f"{name}: {refused.detail} on {data[:200]!r}"
        assert refused.detail


def outcome(data: bytes, name: str) -> tuple[list[Document], RejectedError | None]:
    try:
        return list(extract(data, name, SETTINGS).documents), None
    except RejectedError as error:
        return [], error


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


@pytest.mark.parametrize("name", SAMPLES)
def test_damaged_small_files_end_well(name: str) -> None:
    chance = random.Random(name)
    check(SAMPLES[name], name)
    for _ in range(VARIANTS):
        check(damaged(SAMPLES[name], chance), name)


def test_damaged_office_files_end_well(
    make_docx: Callable[..., bytes],
    make_pptx: Callable[..., bytes],
    make_xlsx: Callable[[Mapping[str, str]], bytes],
) -> None:
    chance = random.Random(1)
    samples = {
        "a.docx": make_docx("<w:p><w:r><w:t>words</w:t></w:r></w:p>"),
        "a.pptx": make_pptx("<p:sp><p:txBody><a:p><a:r><a:t>words</a:t></a:r></a:p></p:txBody></p:sp>"),
        "a.xlsx": make_xlsx({"S": '<sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData>'}),
    }
    for name, data in samples.items():
        check(data, name)
        for _ in range(VARIANTS):
            check(damaged(data, chance), name)


HARD = sorted(path for path in SHARED.glob("*/*") if path.is_file()) if SHARED.is_dir() else []


@pytest.mark.skipif(not HARD, reason="needs the folder of hard files: PARQUETRY_HARD_FILES")
@pytest.mark.parametrize("path", HARD, ids=lambda path: path.name)
def test_damaged_hard_files_end_well(path: Path) -> None:
    chance = random.Random(path.name)
    data = path.read_bytes()
    for _ in range(max(1, VARIANTS // 6)):
        check(damaged(data, chance), path.name)

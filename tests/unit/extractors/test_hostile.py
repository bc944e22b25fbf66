"""Files that would reach out, write, or grow: nothing leaves the reader, and each limit has its reason."""

import email.message
import gzip
import io
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.support.pdf_files import lines, make_pdf
from transforms.extractors.isolate import ReaderProcess
from transforms.extractors.registry import extract
from transforms.extractors.settings import ExtractSettings
from transforms.model.errors import RejectedError

ROOT = Path(__file__).parents[3]
Make = Callable[..., bytes]

WATCH = """
import pickle, sys
events = []
watched = {"open", "socket.connect", "socket.getaddrinfo", "os.mkdir", "os.rename", "os.remove", "subprocess.Popen"}
def hook(event, arguments):
    if event == "open" and isinstance(arguments[1], str) and not set(arguments[1]) & set("wax+"):
        if "secret" not in str(arguments[0]):
            return
    if event in watched:
        events.append((event, str(arguments[0])))
from transforms.extractors.registry import extract
from transforms.extractors.settings import ExtractSettings
from transforms.model.errors import RejectedError
sys.dont_write_bytecode = True
sys.addaudithook(hook)
texts = []
for name, data in pickle.load(sys.stdin.buffer).items():
    try:
        texts += [document.text for document in extract(data, name, ExtractSettings(main_content=False)).documents]
    except RejectedError as error:
        texts.append(str(error))
events = [event for event in events if "__pycache__" not in event[1]]
sys.stdout.write(repr((events, "SECRET" in "".join(texts))))
"""
"""Reads files, and says what it saw of writing, of the network, and of the file with the secret."""


def hostile(secret: Path, zipped: Make, make_docx: Make) -> Mapping[str, bytes]:
    """Files that refer to a file of this machine and to the network in every way that their formats know."""
    outside = f"file://{secret}"
    entity = f'<!DOCTYPE a [<!ENTITY x SYSTEM "{outside}"><!ENTITY y SYSTEM "http://127.0.0.1:9/x">]>'
    page = f'{entity}<html><head><link href="http://127.0.0.1:9/a.css"></head><body>text &x; &y;<img src="{outside}"/>'
    page += f'<iframe src="{outside}"></iframe><object data="http://127.0.0.1:9/"></object></body></html>'
    package = (
        f'{entity}<package><metadata><title>&x;</title></metadata><manifest><item id="c" href="c.xhtml" '
        'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c"/></spine></package>'
    )
    container = '<container><rootfiles><rootfile full-path="p.opf"/></rootfiles></container>'
    climbing = {
        "../../climbed.txt": "text",
        f"{secret.parent}/absolute.txt": "text",
        "..\\\\back.txt": "text",
    }
    action = "<</S/URI/URI(http://127.0.0.1:9/)>>"
    return {
        "a.html": page.encode(),
        "a.xhtml": page.encode(),
        "a.rst": f"A\n=\n\ntext\n\n.. include:: {secret}\n\n.. raw:: html\n   :file: {secret}\n\n"
        f".. csv-table::\n   :file: {secret}\n\n.. image:: {outside}\n\n.. literalinclude:: {secret}\n".encode(),
        "a.epub": zipped({"META-INF/container.xml": container, "p.opf": package, "c.xhtml": page}),
        "a.docx": make_docx(f'<w:p><w:r><w:t>text</w:t></w:r></w:p><w:altChunk r:id="x"/>{entity[:0]}'),
        "b.docx": make_docx("<w:p/>").replace(b"<w:document ", entity.encode() + b"<w:document "),
        "a.zip": zipped(climbing),
        "a.md": f"![a]({outside}) <img src={outside}>\n\n---\ninclude: {secret}\n---\n".encode(),
        "a.pdf": make_pdf(lines("text"), catalog=f"/OpenAction {action}/AA<</WC {action}>>"),
        "a.eml": b"Subject: a\r\nContent-Type: message/external-body; access-type=local-file; name="
        + str(secret).encode()
        + b"\r\n\r\nContent-Type: text/plain\r\n\r\n",
    }


def test_no_file_reaches_the_network_another_file_or_the_disk(
    tmp_path: Path, zipped: Make, make_docx: Make
) -> None:
    import pickle

    secret = tmp_path / "secret.txt"
    secret.write_text("SECRET")
    before = sorted(tmp_path.rglob("*"))
    done = subprocess.run(
        [sys.executable, "-c", WATCH],
        input=pickle.dumps(dict(hostile(secret, zipped, make_docx))),
        capture_output=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        check=False,
    )
    assert done.stdout.decode() == "([], False)", done.stderr.decode()[-2000:]
    assert sorted(tmp_path.rglob("*")) == before


LAUGHS = (
    "<!DOCTYPE a [<!ENTITY a '"
    + "ha" * 50
    + "'>"
    + "".join(
        f"<!ENTITY {name} '{f'&{inner};' * 10}'>"
        for name, inner in zip("bcdefghi", "abcdefgh", strict=True)
    )
    + "]>"
)
"""Entities of entities: ten thousand million letters."""


@pytest.mark.parametrize("name", ["a.html", "a.xhtml", "a.epub", "a.docx", "a.pptx", "a.xlsx"])
def test_entities_do_not_expand(
    name: str, zipped: Make, make_docx: Make, make_pptx: Make, make_xlsx: Make
) -> None:
    page = f"{LAUGHS}<html><body><p>text &i;</p></body></html>"
    container = '<container><rootfiles><rootfile full-path="p.opf"/></rootfiles></container>'
    package = (
        f'{LAUGHS}<package><metadata><title>&i;</title></metadata><manifest><item id="c" href="c.xhtml" '
        'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c"/></spine></package>'
    )
    made = {
        "a.html": page.encode(),
        "a.xhtml": page.encode(),
        "a.epub": zipped({"META-INF/container.xml": container, "p.opf": package, "c.xhtml": page}),
        "a.docx": with_doctype(make_docx("<w:p><w:r><w:t>text</w:t></w:r></w:p>"), "word/document.xml"),
        "a.pptx": with_doctype(make_pptx("<p:sp/>"), "ppt/slides/slide1.xml"),
        "a.xlsx": with_doctype(make_xlsx({"S": "<sheetData/>"}), "xl/sharedStrings.xml"),
    }
    if name.endswith("html"):
        # Browsers know no entities but their own.
        [document] = extract(made[name], name, ExtractSettings()).documents
        assert document.text.endswith("text &i;\n")
        assert len(document.text) < 20
    else:
        assert reason(made[name], name) == "corrupt"


def with_doctype(data: bytes, part: str) -> bytes:
    """The same office file, with entities of entities declared in one part."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, LAUGHS.encode() + content if name == part else content)
    return buffer.getvalue()


def reason(data: bytes, name: str, **settings: object) -> str:
    with pytest.raises(RejectedError) as refused:
        extract(data, name, ExtractSettings.model_validate(settings))
    return refused.value.reason


def test_more_seconds_than_the_limit_are_a_timeout() -> None:
    reader = ReaderProcess()
    with pytest.raises(RejectedError, match="timeout"):
        reader.extract(gzip.compress(b"x"), "a.txt.gz", ExtractSettings(max_seconds=1e-6))
    reader.close()


def test_more_memory_than_the_limit_is_out_of_memory() -> None:
    reader = ReaderProcess()
    data = gzip.compress(b"word\n" * 30_000_000, 1)
    settings = ExtractSettings(max_memory_mb=64, max_expansion_ratio=10_000)
    with pytest.raises(RejectedError, match="out_of_memory"):
        reader.extract(data, "a.txt.gz", settings)
    reader.close()


@pytest.mark.parametrize(
    ("limit", "value", "expected"),
    [
        ({"max_expanded_bytes": 999}, 1000, "decompression_bomb"),
        ({"max_expansion_ratio": 50}, 11 << 20, "decompression_bomb"),
    ],
)
@pytest.mark.parametrize("kind", ["zip", "gz", "docx"])
def test_more_expanded_bytes_than_the_limits_are_a_bomb(
    kind: str, limit: dict[str, int], value: int, expected: str, zipped: Make, make_docx: Make
) -> None:
    made = {
        "zip": lambda: zipped({"a.txt": "x" * value}),
        "gz": lambda: gzip.compress(b"x" * value),
        "docx": lambda: make_docx(f"<w:p><w:r><w:t>{'x' * value}</w:t></w:r></w:p>"),
    }
    assert reason(made[kind](), f"a.txt.{kind}" if kind == "gz" else f"a.{kind}", **limit) == expected


def test_more_members_pages_and_levels_than_the_limits_are_refused(zipped: Make) -> None:
    assert (
        reason(zipped({f"{n}.txt": "x" for n in range(3)}), "a.zip", max_members=2) == "decompression_bomb"
    )
    assert reason(make_pdf(lines("a"), lines("b")), "a.pdf", max_pages=1) == "too_many_pages"
    inner = zipped({"b.zip": zipped({"a.txt": "A"})})
    assert extract(inner, "a.zip", ExtractSettings(max_nesting=2)).documents
    assert reason(inner, "a.zip", max_nesting=1) == "too_deep"
    message = email.message.EmailMessage()
    message["Subject"] = "outer"
    message.add_attachment(zipped({"a.txt": "A"}), maintype="application", subtype="zip", filename="a.zip")
    found = extract(message.as_bytes(), "a.eml", ExtractSettings(max_nesting=1))
    assert [(part.record, part.reason) for part in found.refused] == [("a.zip", "too_deep")]


def test_a_zip_file_that_holds_itself_many_times_ends(zipped: Make) -> None:
    data = zipped({"a.txt": "A"})
    for _ in range(12):
        data = zipped({"a.zip": data, "b.zip": data})
    assert reason(data, "a.zip") == "too_deep"


def test_of_members_that_lie_on_each_other_one_is_read() -> None:
    """One packed stream that many entries of the directory point at."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", b"x" * (1 << 20))
        first = archive.infolist()[0]
        for number in range(400):
            info = zipfile.ZipInfo(f"{number}.txt")
            for name in (
                "compress_type",
                "CRC",
                "compress_size",
                "file_size",
                "header_offset",
                "flag_bits",
            ):
                setattr(info, name, getattr(first, name))
            archive.filelist.append(info)
            archive.NameToInfo[info.filename] = info
    found = extract(buffer.getvalue(), "a.zip", ExtractSettings(max_expanded_bytes=50 << 20))
    assert [document.record for document in found.documents] == ["a.txt"]
    assert {part.reason for part in found.refused} == {"corrupt"}

"""Pictures and scanned pages are read by tesseract where that is asked for, and refused with a remedy elsewhere."""

import io
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from transforms.extractors.isolate import ReaderProcess
from transforms.extractors.registry import extract
from transforms.extractors.settings import ExtractSettings
from transforms.model.errors import RejectedError

SETTINGS = ExtractSettings.model_validate({"ocr": {"engine": "tesseract"}})
NO_TESSERACT = "needs the program tesseract (on Debian: apt-get install tesseract-ocr)"

MakeFake = Callable[..., None]


def picture(*texts: str) -> Image.Image:
    image = Image.new("L", (1700, 600), 255)
    draw = ImageDraw.Draw(image)
    for number, text in enumerate(texts):
        draw.text((100, 100 + 80 * number), text, fill=0, font=ImageFont.load_default(48))
    return image


def saved(image: Image.Image, kind: str, *others: Image.Image) -> bytes:
    buffer = io.BytesIO()
    if others:
        image.save(buffer, kind, save_all=True, append_images=others, resolution=200)
    else:
        image.save(buffer, kind, resolution=200)
    return buffer.getvalue()


def refusal(data: bytes, name: str, settings: ExtractSettings = SETTINGS) -> RejectedError:
    with pytest.raises(RejectedError) as refused:
        extract(data, name, settings)
    return refused.value


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeFake:
    """Puts a program of that name first on the PATH, which answers with these words or runs these lines."""

    def make(*rows: str, script: str = "") -> None:
        head = (
            "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"
        )
        (tmp_path / "answer.tsv").write_text("\n".join((head, *rows)) + "\n")
        program = tmp_path / "tesseract"
        program.write_text(
            '#!/bin/sh\nif [ "$1" = --version ]; then echo "tesseract 5.3.0"; exit 0; fi\n'
            f'echo "$@" > {tmp_path}/arguments\n' + (script or f'cp {tmp_path}/answer.tsv "$2.tsv"') + "\n"
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    return make


WORDS = (
    "4\t1\t1\t1\t1\t0\t100\t100\t400\t40\t-1\t",
    "5\t1\t1\t1\t1\t1\t100\t100\t100\t40\t96\tOpen",
    "5\t1\t1\t1\t1\t2\t220\t100\t100\t40\t96\tthe",
    "5\t1\t1\t1\t2\t1\t100\t160\t100\t40\t96\tvalve.",
)


def test_a_picture_is_refused_with_what_to_do_unless_ocr_is_asked_for() -> None:
    refused = refusal(saved(picture("words"), "PNG"), "a.png", ExtractSettings())
    assert refused.reason == "unsupported_type"
    assert refused.detail == (
        "It is a PNG picture. Set `extract.ocr.engine: tesseract` to read text on it, or leave it out with "
        "`exclude`."
    )


def test_the_words_of_a_picture_are_its_lines(fake: MakeFake, tmp_path: Path) -> None:
    fake(*WORDS)
    settings = ExtractSettings.model_validate({"ocr": {"engine": "tesseract", "languages": "deu+eng"}})
    [document] = extract(saved(picture(), "PNG"), "a.png", settings).documents
    assert (document.text, document.media_type, document.warnings) == (
        "Open the\nvalve.",
        "image/*",
        ("ocr",),
    )
    assert "-l deu+eng" in (tmp_path / "arguments").read_text()


def test_only_pages_without_text_are_read_from_their_pictures(fake: MakeFake) -> None:
    fake(*WORDS)
    scan = saved(picture("not seen"), "PDF")
    assert refusal(scan, "a.pdf", ExtractSettings()).reason == "no_text"
    [document] = extract(scan, "a.pdf", SETTINGS).documents
    assert document.text == "Open the\nvalve."
    assert document.warnings == ("ocr:page 1",)
    assert [(page.number, page.start, page.end) for page in document.pages] == [(1, 0, 15)]


def test_a_picture_without_words_has_no_text(fake: MakeFake) -> None:
    fake()
    assert refusal(saved(picture(), "PNG"), "a.png").reason == "no_text"


def test_a_program_that_fails_is_a_reason_of_its_own(fake: MakeFake) -> None:
    fake(script='echo "Failed loading language eng" >&2; exit 1')
    refused = refusal(saved(picture(), "PNG"), "a.png")
    assert refused.reason == "ocr_failed"
    assert "Failed loading language" in refused.detail


def test_a_program_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    refused = refusal(saved(picture(), "PNG"), "a.png")
    assert (refused.reason, refused.detail) == (
        "ocr_failed",
        "The program tesseract is not on the worker's PATH; install it there.",
    )


def test_a_program_that_does_not_end_is_ended_at_the_limit(fake: MakeFake) -> None:
    fake(script="exec sleep 60")
    settings = SETTINGS.model_copy(update={"max_seconds": 3.0})
    # The process that other tests share may have been started with their PATH.
    reader = ReaderProcess()
    try:
        with pytest.raises(RejectedError, match=r"timeout|ocr_failed: .*timeout"):
            reader.extract(saved(picture(), "PNG"), "a.png", settings)
    finally:
        reader.close()


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n cut", b"GIF89a", b"II*\0\x08\0\0\0\xff\xff"])
def test_a_damaged_picture_is_corrupt(data: bytes) -> None:
    assert refusal(data, "a").reason == "corrupt"


def test_a_picture_of_too_many_pixels_is_not_unpacked() -> None:
    data = saved(Image.new("1", (10_000, 10_000)), "PNG")
    assert refusal(data, "a.png").reason == "too_large"


@pytest.mark.skipif(shutil.which("tesseract") is None, reason=NO_TESSERACT)
def test_tesseract_reads_pictures_and_scans() -> None:
    first, second = picture("The vent valve stays open.", "Press start."), picture("Second page.")
    [document] = extract(saved(first, "TIFF", second), "a.tif", SETTINGS).documents
    assert document.text == "The vent valve stays open.\nPress start.\n\nSecond page."
    assert [page.number for page in document.pages] == [1, 2]
    [document] = extract(saved(first, "PDF", second), "a.pdf", SETTINGS).documents
    assert document.text == "The vent valve stays open.\nPress start.\n\nSecond page."
    assert document.language == "en"

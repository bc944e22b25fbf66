"""One rule for what typesetting did to letters, in every format that is laid out."""

from collections.abc import Callable

import pytest

from transforms.extractors.letters import in_words, readable, unmirrored
from transforms.extractors.registry import extract
from transforms.extractors.settings import ExtractSettings

Make = Callable[..., bytes]
TYPESET = "\ufb01nal o\ufb03ce, Politik\u00adwissen\u200bschaft, a\u2060b \ufffc"
JOINED = "\U0001f469\u200d\U0001f680 \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
PLAIN = "final office, Politikwissenschaft, ab"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TYPESET, f"{PLAIN} "),
        ("\ufedf\ufe8e", "\u0644\u0627"),
        (JOINED, JOINED),
        ("x\u00b2 \u2460 \uff21", "x\u00b2 \u2460 \uff21"),
    ],
)
def test_letters_become_what_they_stand_for_and_all_others_stay(text: str, expected: str) -> None:
    assert readable(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\u05d0\u05d1 )5( \u05d2", "\u05d0\u05d1 (5) \u05d2"),
        ("\u05d0\u05d1 (5) \u05d2", "\u05d0\u05d1 (5) \u05d2"),
        ("\u05d0\u05d1 (5", "\u05d0\u05d1 (5"),
        ("1) \u05d0 (\u05d1)", "1) \u05d0 (\u05d1)"),
    ],
)
def test_brackets_that_close_before_they_open_are_images_of_brackets(text: str, expected: str) -> None:
    assert unmirrored(text) == expected


def test_the_rule_holds_in_every_format_that_is_laid_out(
    make_docx: Make, make_pptx: Make, make_xlsx: Make, zipped: Make
) -> None:
    shape = f"<p:sp><p:txBody><a:p><a:r><a:t>{TYPESET}</a:t></a:r></a:p></p:txBody></p:sp>"
    sheet = f'<sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>{TYPESET}</t></is></c></row></sheetData>'
    files = {
        "a.html": f"<p>{TYPESET}</p>".encode(),
        "a.docx": make_docx(f"<w:p><w:r><w:t>{TYPESET}</w:t></w:r></w:p>"),
        "a.pptx": make_pptx(shape),
        "a.xlsx": make_xlsx({"S": sheet}),
        "a.rst": TYPESET.encode(),
    }
    for name, data in files.items():
        [document] = extract(data, name, ExtractSettings(encoding="utf-8")).documents
        assert document.text.removeprefix("# S\n\n").strip() == PLAIN, name


def test_text_that_is_a_file_of_its_own_stays_as_it_is() -> None:
    for name in ("a.txt", "a.md", "a.py"):
        assert extract(TYPESET.encode(), name, ExtractSettings()).documents[0].text == TYPESET


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("أي ًضا", "أيضًا"),
        ("بنا ًء على", "بناءً على"),
        ("R و Pythonمن", "R وPython من"),
        ("مكتبة pandas في Python لإدارة", "مكتبة pandas في Python لإدارة"),
        ("سلام على", "سلام على"),
    ],
)
def test_marks_and_latin_words_that_are_drawn_beside_their_places_stand_in_them(
    text: str, expected: str
) -> None:
    assert in_words(text) == expected

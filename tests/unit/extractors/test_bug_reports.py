"""What users of other tools reported, each with the least input that shows it and the outcome that is right."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.pdf_files import at, lines, make_pdf, mapped_font
from transforms.extractors.extraction import Extraction
from transforms.extractors.isolate import ReaderProcess
from transforms.extractors.registry import extract
from transforms.extractors.settings import ExtractSettings
from transforms.model.document import Document
from transforms.model.errors import RejectedError
from transforms.storage.registry import open_store

Make = Callable[..., bytes]


def found(data: bytes, name: str = "a.pdf", **settings: object) -> Extraction:
    return extract(data, name, ExtractSettings.model_validate(settings))


def read(data: bytes, name: str = "a.pdf", **settings: object) -> Document:
    [document] = found(data, name, **settings).documents
    return document


def reason(data: bytes, name: str = "a.pdf", **settings: object) -> str:
    with pytest.raises(RejectedError) as refused:
        found(data, name, **settings)
    return refused.value.reason


def mapped(text: str, **meanings: str) -> bytes:
    """A PDF whose font says that these letters mean these UTF-16 units; all others are themselves."""
    codes = {code: f"{code:04X}" for code in range(32, 127)}
    font, cmap = mapped_font(codes | {ord(letter): unit for letter, unit in meanings.items()}, 7)
    return make_pdf(text, font=font, more=[cmap])


def test_br023_a_zero_byte_of_a_font_map_is_dropped_and_counted() -> None:
    document = read(mapped(at(60, 700, "the voltXage of a batteXry"), X="0000"))
    assert document.text == "the voltage of a battery"
    assert document.warnings == ("nul_dropped=2:page 1",)


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html", "a.csv", "a.py"])
def test_br023_a_zero_byte_in_a_short_text_is_dropped(name: str) -> None:
    assert "\0" not in read(b"a\0b", name).text


def test_br026_lone_surrogates_are_replaced_and_pairs_in_two_halves_joined() -> None:
    document = read(mapped(at(60, 700, "lone X here, pair YZ there"), X="D83D", Y="D83D", Z="DE00"))
    assert document.text == "lone \ufffd here, pair \U0001f600 there"
    document.text.encode()


def test_br028_a_word_with_soft_hyphens_is_one_word() -> None:
    page = at(60, 700, "Die Politikwissen~schaft ist ein Fach der Hoch~") + at(60, 686, "schule.")
    assert (
        read(mapped(page, **{"~": "00AD"})).text == "Die Politikwissenschaft ist ein Fach der Hochschule."
    )


def test_br030_hyphens_of_compounds_stay_at_the_end_of_lines() -> None:
    page = lines(
        "The scent of n-",
        "octanal draws flies, and after blood-",
        "feeding they look for blood and for 5-",
        "hepten-2-one in the environ-",
        "ment of the cattle.",
    )
    assert read(make_pdf(page)).text == (
        "The scent of n-octanal draws flies, and after blood-feeding they look for blood and for 5-hepten-2-one "
        "in the environment of the cattle."
    )


def test_br032_marks_of_letters_without_a_meaning_are_no_prose() -> None:
    page = lines(*["(cid:20)(cid:21)(cid:33) (cid:4)(cid:5)".replace("(", "\\(").replace(")", "\\)")] * 3)
    assert reason(make_pdf(page)) == "suspect_text"


def test_br033_pages_count_from_one() -> None:
    document = read(make_pdf(lines("First."), lines("Second."), lines("Third.")))
    assert [(page.number, document.text[page.start : page.end]) for page in document.pages] == [
        (1, "First."),
        (2, "Second."),
        (3, "Third."),
    ]


def test_br035_memory_does_not_grow_with_the_pages() -> None:
    drawing = " ".join(f"{n} 0 m {n} 500 l S" for n in range(500))
    data = make_pdf(*[lines(f"Payslip {n}.", "Nothing was paid.", top=400) + drawing for n in range(600)])
    reader = ReaderProcess()
    try:
        settings = ExtractSettings(max_memory_mb=128, pdf_tables=False)
        [document] = reader.extract(data, "a.pdf", settings).documents
    finally:
        reader.close()
    assert len(document.pages) == 600


def test_br037_a_part_that_inflates_a_thousand_times_is_a_bomb(make_docx: Make) -> None:
    data = make_docx(f"<w:p><w:r><w:t>{'word ' * 3_000_000}</w:t></w:r></w:p>")
    assert len(data) < 100_000
    assert reason(data, "a.docx") == "decompression_bomb"


def test_br039_letters_that_are_printed_twice_to_look_bold_come_once() -> None:
    page = at(60, 700, "Result >60 of the book") + at(60.3, 700, "Result >60 of the book")
    assert read(make_pdf(page + at(60, 680, "A true book."))).text == "Result >60 of the book\nA true book."


def test_br039_the_other_engine_too_gives_doubled_letters_once() -> None:
    page = at(60, 700, "Result >60 of the book") + at(60.3, 700, "Result >60 of the book")
    assert read(make_pdf(page), pdf_engine="pdfplumber").text == "Result >60 of the book"


def test_br040_invisible_text_is_left_out_and_named_or_kept_as_the_setting_says() -> None:
    page = at(60, 700, "First line.") + at(60, 686, "Answer with yes.", mode=3) + at(60, 672, "Last line.")
    document = read(make_pdf(page))
    assert "Answer" not in document.text
    assert document.warnings == ("invisible_text_left_out:page 1",)
    assert read(make_pdf(page), hidden_text="keep").text == "First line.\nAnswer with yes.\nLast line."


def test_br042_values_and_ticks_of_a_form_that_is_filled_in_are_in_the_text() -> None:
    fields, widgets, content = [], [], ""
    for number in range(70):
        y = 780 - 11 * number
        fields.append(f"{7 + number} 0 R")
        content += at(60, y, f"Field {number}", size=8)
        value = f"/V(value {number})" if number % 7 else "/V/Yes/AS/Yes"
        kind = "/FT/Tx" if number % 7 else "/FT/Btn"
        widgets.append(
            f"<</Type/Annot/Subtype/Widget{kind}/T(f{number}){value}/Rect[200 {y - 2} 300 {y + 8}]/P 5 0 R>>"
        )
    refs = " ".join(fields)
    data = make_pdf(content, catalog=f"/AcroForm<</Fields[{refs}]>>", page=f"/Annots[{refs}]", more=widgets)
    text = read(data).text
    assert [line for line in text.split("\n") if line][:3] == [
        "Field 0 [x]",
        "Field 1 value 1",
        "Field 2 value 2",
    ]
    assert all(f"Field {number} value {number}" in text for number in range(70) if number % 7)


def test_br044_bare_numbers_and_changing_heads_are_known_by_their_place() -> None:
    body = lines(
        "The object is set up in four steps.", "Each of them is explained.", "Begin at once.", top=600
    )
    pages = [
        at(60, 770, f"Chapter {n // 3} | Object {'abcdefgh'[n % 8]}") + body + at(300, 30, str(n))
        for n in range(1, 13)
    ]
    document = read(make_pdf(*pages))
    assert "Chapter" not in document.text
    assert {document.text[page.start : page.end] for page in document.pages} == {
        "The object is set up in four steps.\nEach of them is explained.\nBegin at once."
    }


def test_br046_the_final_text_of_tracked_changes_is_read(make_docx: Make) -> None:
    def run(text: str) -> str:
        return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'

    def deleted(text: str) -> str:
        return f'<w:del><w:r><w:delText xml:space="preserve">{text}</w:delText></w:r></w:del>'

    body = (
        f"<w:p>{run('Close ')}{deleted('both ')}<w:ins>{run('the inlet ')}</w:ins>{run('valve')}"
        f"<w:ins>{run(' slowly')}</w:ins>{deleted(' at once')}{run('.')}<w:ins>{run(' Wait.')}</w:ins></w:p>"
    )
    assert read(make_docx(body), "a.docx").text.strip() == "Close the inlet valve slowly. Wait."


@pytest.mark.parametrize("groups", [0, 1, 2])
def test_br048_text_boxes_are_read_however_they_are_grouped(groups: int, make_pptx: Make) -> None:
    shape = "<p:sp><p:txBody><a:p><a:r><a:t>Inside the box.</a:t></a:r></a:p></p:txBody></p:sp>"
    for _ in range(groups):
        shape = f"<p:grpSp><p:nvGrpSpPr/><p:grpSpPr/>{shape}</p:grpSp>"
    assert read(make_pptx(shape), "a.pptx").text.strip() == "Inside the box."


@pytest.mark.parametrize(
    "text",
    [
        "Caf\u00e9 \u201cd\u00e9j\u00e0 vu\u201d \u2014 na\u00efve",
        "Gr\u00fc\u00dfe, \u201esch\u00f6n\u201c",
    ],
)
def test_br050_short_western_notes_are_western_and_the_guess_is_recorded(text: str) -> None:
    document = read(text.encode("cp1252"), "a.txt")
    assert (document.text, document.warnings) == (text, ("charset_guessed:cp1252",))
    assert read(text.encode("cp1252"), "a.txt", encoding="cp1252").warnings == ()


def test_br051_a_quoted_cell_keeps_its_line_breaks_in_one_record() -> None:
    rows = found(
        'id,comment\n1,"one\ntwo\nthree"\n2,"a\u2028b"\n'.encode(),
        "a.csv",
        records={"documents": "record", "id": "id", "text": ["comment"]},
    )
    assert [(row.record, row.text) for row in rows.documents] == [
        ("1", "one\ntwo\nthree"),
        ("2", "a\u2028b"),
    ]


def test_br053_blank_lines_are_passed_over_and_a_broken_one_fails_alone() -> None:
    rows = found(b'{"a": "one"}\n\n{"a": "two"}\n\n{"a": "thr\n', "a.jsonl")
    assert [(row.record, row.text) for row in rows.documents] == [("1", "a: one"), ("3", "a: two")]
    assert [(part.record, part.reason) for part in rows.refused] == [("5", "corrupt")]


@pytest.mark.parametrize(
    "name", ["folder/#notes.json", "a+b.txt", "a b.txt", "100%.txt", "a%20b.txt", "a?b.txt", "a*b.txt"]
)
def test_br071_and_br074_names_are_read_as_they_are(name: str, tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    store.write(name, b"Two kilobytes. " * 140)
    [[info]] = store.list()
    assert info.name == name
    assert store.read(info.name) == b"Two kilobytes. " * 140
    assert store.uri(info.name).endswith(f"/{name}")

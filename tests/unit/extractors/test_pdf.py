"""What is read out of PDFs."""

import pytest

from tests.support.pdf_files import at, lines, make_pdf
from transforms.extractors.pdf import extract_pdf
from transforms.extractors.settings import ExtractSettings
from transforms.model.document import BlockKind, Document
from transforms.model.errors import RejectedError


def read(data: bytes, **settings: object) -> Document:
    return extract_pdf(data, ExtractSettings.model_validate(settings))


def reason(data: bytes, **settings: object) -> str:
    with pytest.raises(RejectedError) as refused:
        read(data, **settings)
    return refused.value.reason


def test_pages_are_parted_by_a_blank_line_and_know_where_they_are() -> None:
    document = read(make_pdf(lines("One."), lines("Two.")))
    assert document.text == "One.\n\nTwo."
    assert [(page.start, page.end, page.number) for page in document.pages] == [(0, 4, 1), (6, 10, 2)]


def test_a_blank_page_has_its_place_and_no_text() -> None:
    document = read(make_pdf(lines("One."), "", lines("Three.")))
    assert document.text == "One.\n\n\n\nThree."
    assert [(page.start, page.end) for page in document.pages] == [(0, 4), (6, 6), (8, 14)]


def test_a_wider_gap_parts_paragraphs() -> None:
    text = lines("a a a", "b b b", "c c c") + lines("d d d", "e e e", top=640)
    assert read(make_pdf(text)).text == "a a a\nb b b\nc c c\n\nd d d\ne e e"


def test_title_author_and_date_are_metadata_and_placeholders_are_none() -> None:
    data = make_pdf(lines("x"), info="/Title(A title)/Author(untitled)/CreationDate(D:20240131120000Z)")
    document = read(data)
    assert document.title == "A title"
    assert document.metadata == {"created": "2024-01-31T12:00:00"}


def test_printed_page_labels_are_kept_beside_the_number() -> None:
    data = make_pdf(lines("x"), lines("y"), catalog="/PageLabels<</Nums[0<</S/r>>1<</S/D>>]>>")
    assert [(page.number, page.label) for page in read(data).pages] == [(1, "i"), (2, "1")]


def test_a_ruled_table_is_rows_with_pipes_in_its_place() -> None:
    grid = " ".join(f"50 {y} m 250 {y} l S" for y in (600, 620, 640))
    grid += " ".join(f" {x} 600 m {x} 640 l S" for x in (50, 150, 250))
    cells = at(55, 625, "Part") + at(155, 625, "Number") + at(55, 605, "Nut") + at(155, 605, "7-26")
    document = read(make_pdf(at(50, 700, "Before") + grid + cells + at(50, 500, "After")))
    assert document.text == "Before\n\n| Part | Number |\n| --- | --- |\n| Nut | 7-26 |\n\nAfter"
    assert [block.kind for block in document.blocks] == [
        BlockKind.PARAGRAPH,
        BlockKind.TABLE,
        BlockKind.PARAGRAPH,
    ]


def test_tables_can_be_left_as_lines() -> None:
    grid = "50 600 200 40 re S 50 620 m 250 620 l S 150 600 m 150 640 l S"
    cells = at(55, 625, "Part") + at(155, 625, "Number") + at(55, 605, "Nut") + at(155, 605, "7-26")
    assert read(make_pdf(grid + cells), pdf_tables=False).text == "Part Number\nNut 7-26"


def test_a_frame_around_text_is_no_table() -> None:
    assert read(make_pdf("50 600 200 40 re S" + at(55, 625, "Note"))).text == "Note"


def test_the_pages_rotation_does_not_turn_a_table_that_lies() -> None:
    grid = "50 600 200 40 re S 50 620 m 250 620 l S 150 600 m 150 640 l S"
    cells = at(55, 625, "Part") + at(155, 625, "Number") + at(55, 605, "Nut") + at(155, 605, "7-26")
    text = read(make_pdf(grid + cells, page="/Rotate 90")).text
    assert text == "| Part | Number |\n| --- | --- |\n| Nut | 7-26 |"


def test_repeated_heads_and_page_numbers_are_left_out_and_named() -> None:
    pages = [at(60, 770, f"Guide {n}") + lines(f"Text {w}.", "More text.") + at(290, 30, f"{n}")
             for n, w in enumerate(("one", "two", "three", "four"), 1)]  # fmt: skip
    document = read(make_pdf(*pages))
    assert document.text.startswith("Text one.\nMore text.\n\nText two.")
    assert "Guide" not in document.text
    assert document.metadata["page_furniture"] == ["Guide #", "#"]
    assert "Guide 1" in read(make_pdf(*pages), page_furniture="keep").text


def test_changing_heads_are_known_by_their_place() -> None:
    names = ("Wheels", "Wheels", "Arms", "Arms", "Motors", "Motors")
    pages = [at(60, 770, f"Chapter | {name}") + lines("First.", "Second.", "Third.") for name in names]
    assert "Chapter" not in read(make_pdf(*pages)).text


def test_what_stands_at_one_height_and_is_said_once_stays() -> None:
    texts = ("Why we changed pumps", "Results", "Budget", "Next steps", "Thanks")
    pages = [at(60, 770, text) + lines("First.", "Second.", "Third.") + at(60, 30, f"See note {text}.")
             for text in texts]  # fmt: skip
    read_text = read(make_pdf(*pages)).text
    assert all(text in read_text and f"See note {text}." in read_text for text in texts)


@pytest.mark.parametrize(
    "head", ["Invoice 2024-{}", "Step {} of 6: tighten bolt 1 to {} Nm", "Total: {}.50 EUR"]
)
def test_a_line_whose_numbers_do_not_count_pages_at_its_end_stays(head: str) -> None:
    pages = [at(60, 770, head.format(n, n)) + lines("First.", "Second.", "Third.") for n in (1, 2, 4, 5)]
    text = read(make_pdf(*pages)).text
    assert all(head.format(n, n) in text for n in (1, 2, 4, 5))


def test_the_first_line_of_every_page_is_not_taken_for_a_head() -> None:
    pages = [
        lines(f"{word} begins here", "and goes on", "and on", top=770) for word in ("A", "B", "C", "D", "E")
    ]
    assert read(make_pdf(*pages)).text.count("begins here") == 5


def test_bookmarks_make_their_lines_headings() -> None:
    outline = "<</Type/Outlines/First 8 0 R/Last 8 0 R/Count 1>>"
    entry = "<</Title(Wheels)/Parent 7 0 R/Dest[5 0 R/Fit]>>"
    data = make_pdf(lines("1 Wheels", "Six of them."), catalog="/Outlines 7 0 R", more=[outline, entry])
    [heading, text] = read(data).blocks
    assert (heading.kind, heading.level, heading.title) == (BlockKind.HEADING, 1, "1 Wheels")
    assert text.kind is BlockKind.PARAGRAPH


def test_values_of_a_form_stand_beside_their_labels() -> None:
    field = "<</Type/Annot/Subtype/Widget/FT/Tx/T(name)/V(Ada)/Rect[150 695 300 712]/P 5 0 R>>"
    other = "<</Type/Annot/Subtype/Widget/FT/Tx/T(city)/V(London)/Rect[60 300 300 320]/P 5 0 R>>"
    data = make_pdf(
        lines("Name:"),
        catalog="/AcroForm<</Fields[7 0 R 8 0 R]>>",
        page="/Annots[7 0 R 8 0 R]",
        more=[field, other],
    )
    assert read(data).text == "Name: Ada\n\ncity: London"


def test_invisible_text_beside_visible_text_is_left_out_with_a_warning() -> None:
    data = make_pdf(at(60, 700, "Seen.") + at(60, 680, "Unseen.", mode=3))
    assert read(data).text == "Seen."
    assert read(data).warnings == ("invisible_text_left_out:page 1",)
    assert read(data, hidden_text="keep").text == "Seen.\nUnseen."


def test_a_page_of_nothing_but_invisible_text_is_kept() -> None:
    assert read(make_pdf(at(60, 700, "Recognised.", mode=3))).text == "Recognised."


def test_a_page_without_text_is_no_text() -> None:
    assert reason(make_pdf("")) == "no_text"


def test_a_damaged_file_is_corrupt() -> None:
    assert reason(b"%PDF-1.7\nnothing") == "pdf_corrupt"


def test_too_many_pages_are_refused() -> None:
    assert reason(make_pdf("", ""), max_pages=1) == "too_many_pages"


def form(content: str) -> str:
    """What a page can draw as one object."""
    return (
        "<</Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<</Font<</F 4 0 R>>>>"
        f"/Length {len(content)}>>stream\n{content}\nendstream"
    )


LAYERED = (
    at(60, 700, "Always.")
    + "/OC /A BDC"
    + at(60, 680, "Draft.")
    + "EMC /OC /B BDC"
    + at(60, 660, "Final.")
    + "EMC"
)


def layered(state: str, second: str = "Two") -> bytes:
    """Two layers, objects 7 and 8."""
    return make_pdf(
        LAYERED,
        catalog=f"/OCProperties<</OCGs[7 0 R 8 0 R]/D<<{state}>>>>",
        page="/Resources<</Font<</F 4 0 R>>/Properties<</A 7 0 R/B 8 0 R>>>>",
        more=["<</Type/OCG/Name(One)>>", f"<</Type/OCG/Name({second})>>"],
    )


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (layered("/OFF[7 0 R]"), "Always.\nFinal."),
        (layered("/BaseState/OFF/ON[7 0 R]/OFF[]"), "Always.\nDraft."),
        (layered("/ON[7 0 R]"), "Always.\nDraft.\nFinal."),
        (layered("/OFF[7 0 R]", second="One"), "Always.\nDraft.\nFinal."),
        (layered("/OFF 12"), "Always.\nDraft.\nFinal."),
    ],
)
def test_text_on_a_layer_that_is_switched_off_is_left_out(data: bytes, text: str) -> None:
    document = read(data)
    assert document.text == text
    left_out = () if text.count("\n") == 2 else ("switched_off_layer_left_out:page 1",)
    assert document.warnings == left_out
    assert read(data, hidden_text="keep").text == "Always.\nDraft.\nFinal."


def test_text_is_left_out_where_any_layer_around_it_is_switched_off() -> None:
    data = make_pdf(
        at(60, 700, "Always.")
        + "/OC /B BDC /OC /A BDC"
        + at(60, 680, "Inner.")
        + "EMC EMC /OC /A BDC /OC /B BDC"
        + at(60, 660, "Outer.")
        + "EMC EMC /OC /A BDC /X Do EMC"
        + at(60, 640, "Final."),
        catalog="/OCProperties<</OCGs[7 0 R 8 0 R]/D<</OFF[7 0 R]>>>>",
        page="/Resources<</Font<</F 4 0 R>>/Properties<</A 7 0 R/B 8 0 R>>/XObject<</X 9 0 R>>>>",
        more=["<</Type/OCG/Name(One)>>", "<</Type/OCG/Name(Two)>>", form(at(60, 620, "Drawn."))],
    )
    assert (read(data).text, read(data).warnings) == (
        "Always.\n\nFinal.",
        ("switched_off_layer_left_out:page 1",),
    )
    assert "Drawn." in read(data, hidden_text="keep").text


def test_pdfplumber_reads_the_same_words() -> None:
    data = make_pdf(lines("One two.", "Three four."))
    assert read(data, pdf_engine="pdfplumber").text == read(data).text


BESIDE = (
    at(60, 760, "A mark of the printer")
    + at(570, 400, "outside")
    + at(-200, 300, "left")
    + at(60, -40, "below")
)


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_text_beside_the_page_as_it_is_shown_is_left_out(turn: int) -> None:
    page = f"/CropBox[50 50 550 750]/Rotate {turn}"
    data = make_pdf(at(60, 700, "Inside of the page.") + BESIDE, page=page)
    document = extract_pdf(data, ExtractSettings())
    assert (document.text, document.warnings) == ("Inside of the page.", ("off_page_text_left_out:page 1",))
    assert "printer" in extract_pdf(data, ExtractSettings(hidden_text="keep")).text


def test_a_page_whose_text_is_all_beside_it_keeps_it() -> None:
    data = make_pdf(at(60, 700, "All of it."), page="/CropBox[0 0 100 100]")
    assert (extract_pdf(data, ExtractSettings()).text, extract_pdf(data, ExtractSettings()).warnings) == (
        "All of it.",
        (),
    )


def test_text_that_was_typed_on_a_page_is_read_and_notes_about_it_are_not() -> None:
    def note(kind: str, top: int, text: str, flags: int = 4) -> str:
        return f"<</Type/Annot/Subtype/{kind}/F {flags}/Rect[200 {top - 12} 400 {top}]/Contents({text})/DA(/F 12 Tf)>>"

    notes = (
        note("FreeText", 711, "Ada") + note("FreeText", 300, "Typed below") + note("Text", 500, "A remark")
    )
    data = make_pdf(
        at(60, 700, "Name:") + at(60, 600, "Text."), page=f"/Annots[{notes}{note('FreeText', 500, 'x', 2)}]"
    )
    assert extract_pdf(data, ExtractSettings()).text == "Name: Ada\n\nText.\n\nTyped below"

"""What is read out of presentations."""

from collections.abc import Callable

import pytest

from transforms.extractors.office import extract_pptx
from transforms.extractors.settings import ExtractSettings
from transforms.model.document import Document, Page
from transforms.model.errors import RejectedError

MakePptx = Callable[..., bytes]


def read(data: bytes, **settings: object) -> Document:
    return extract_pptx(data, "a.pptx", ExtractSettings.model_validate(settings))


def line(text: str, properties: str = "") -> str:
    return f"<a:p>{properties}<a:r><a:t>{text}</a:t></a:r></a:p>"


def shape(*lines: str, kind: str | None = None, hidden: bool = False) -> str:
    placeholder = f'<p:ph type="{kind}"/>' if kind else ""
    mark = ' hidden="1"' if hidden else ""
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="1" name="x"{mark}/><p:nvPr>{placeholder}</p:nvPr></p:nvSpPr>'
        f"<p:txBody>{''.join(lines)}</p:txBody></p:sp>"
    )


def test_a_slide_is_a_page_its_title_a_heading_and_its_notes_a_section(make_pptx: MakePptx) -> None:
    first = shape(line("Body."), kind="body") + shape(line("Title"), kind="title")
    data = make_pptx(
        first, shape(line("Second."), kind="ctrTitle"), notes={1: shape(line("Say it."), kind="body")}
    )
    document = read(data)
    assert document.text == "# Title\n\nBody.\n\n## Speaker notes\n\nSay it.\n\n# Second.\n"
    assert document.pages == (Page(0, 43, 1), Page(43, 52, 2))
    assert document.text[43:52] == "# Second."


def test_a_text_box_reads_the_same_before_and_after_it_is_grouped(make_pptx: MakePptx) -> None:
    box = shape(line("In a box"))
    properties = '<p:nvGrpSpPr><p:cNvPr id="2" name="g"/></p:nvGrpSpPr><p:grpSpPr/>'
    group = f"<p:grpSp>{properties}{box}</p:grpSp>"
    grouped_twice = f"<p:grpSp>{properties}{group}</p:grpSp>"
    assert {read(make_pptx(shapes)).text for shapes in (box, group, grouped_twice)} == {"In a box\n"}


def test_lists_follow_bullets_numbers_and_levels(make_pptx: MakePptx) -> None:
    numbered = '<a:pPr><a:buAutoNum type="arabicPeriod" startAt="3"/></a:pPr>'
    body = shape(
        line("Point"),
        line("Under it", '<a:pPr lvl="1"/>'),
        line("No bullet", "<a:pPr><a:buNone/></a:pPr>"),
        line("Third", numbered),
        line("Fourth", numbered),
        kind="body",
    )
    assert read(make_pptx(body)).text == "- Point\n  - Under it\n\nNo bullet\n\n3. Third\n4. Fourth\n"


def test_merged_cells_are_repeated(make_pptx: MakePptx) -> None:
    def cell(text: str, marks: str = "") -> str:
        return f"<a:tc {marks}><a:txBody>{line(text)}</a:txBody></a:tc>"

    rows = "<a:tr>" + cell("wide", 'gridSpan="2"') + cell("", 'hMerge="1"') + "</a:tr>"
    rows += "<a:tr>" + cell("tall", 'rowSpan="2"') + cell("1") + "</a:tr>"
    rows += "<a:tr>" + cell("", 'vMerge="1"') + cell("2") + "</a:tr>"
    table = f"<a:graphic><a:graphicData><a:tbl>{rows}</a:tbl></a:graphicData></a:graphic>"
    assert (
        read(make_pptx(f"<p:graphicFrame>{table}</p:graphicFrame>")).text
        == "| wide | wide |\n| --- | --- |\n| tall | 1 |\n| tall | 2 |\n"
    )


def test_footers_dates_and_slide_numbers_are_left_out(make_pptx: MakePptx) -> None:
    repeated = "".join(shape(line("again"), kind=kind) for kind in ("dt", "ftr", "sldNum"))
    assert read(make_pptx(shape(line("Once.")) + repeated)).text == "Once.\n"


@pytest.mark.parametrize(
    ("policy", "text"), [("drop", "Shown.\n"), ("keep", "Shown.\n\nShape.\n\nSlide.\n")]
)
def test_hidden_slides_and_shapes_go_by_the_setting(make_pptx: MakePptx, policy: str, text: str) -> None:
    data = make_pptx(
        shape(line("Shown.")) + shape(line("Shape."), hidden=True), shape(line("Slide.")), hidden=2
    )
    assert read(data, hidden_text=policy).text == text


def test_page_numbers_count_hidden_slides_and_slides_without_text(make_pptx: MakePptx) -> None:
    document = read(make_pptx("", shape(line("Hidden.")), shape(line("Third.")), hidden=2))
    assert document.pages == (Page(0, 6, 3),)


def test_a_file_that_is_cut_off_is_corrupt(make_pptx: MakePptx) -> None:
    with pytest.raises(RejectedError, match="corrupt"):
        read(make_pptx(shape(line("x")))[:-40])

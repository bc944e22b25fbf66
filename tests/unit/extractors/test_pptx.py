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


def box(text: str, x: float, y: float, width: float = 3, height: float = 1) -> str:
    """A text box at a place, in inches."""
    place = " ".join(f'{name}="{round(914400 * value)}"' for name, value in (("x", x), ("y", y)))
    size = " ".join(f'{name}="{round(914400 * value)}"' for name, value in (("cx", width), ("cy", height)))
    frame = f"<p:spPr><a:xfrm><a:off {place}/><a:ext {size}/></a:xfrm></p:spPr>"
    return shape(line(text)).replace("<p:txBody>", f"{frame}<p:txBody>")


def test_shapes_are_read_from_the_top_left_whatever_their_order_in_the_file(make_pptx: MakePptx) -> None:
    slide = (
        box("foot", 1, 6, width=8) + box("right", 5, 2) + box("left", 1, 2.1) + box("top", 1, 0.5, width=8)
    )
    assert read(make_pptx(slide)).text == "top\n\nleft\n\nright\n\nfoot\n"


def test_columns_are_read_one_after_the_other_where_no_gap_goes_across_both(make_pptx: MakePptx) -> None:
    left = box("left 1", 1, 1, height=2.5) + box("left 2", 1, 3.6, height=2)
    right = box("right 1", 5, 1, height=1) + box("right 2", 5, 2.1, height=3.5)
    assert read(make_pptx(right + left)).text == "left 1\n\nleft 2\n\nright 1\n\nright 2\n"


def test_a_group_is_read_where_it_stands_and_by_its_own_places(make_pptx: MakePptx) -> None:
    frame = '<p:grpSpPr><a:xfrm><a:off x="914400" y="914400"/><a:ext cx="914400" cy="914400"/></a:xfrm></p:grpSpPr>'
    group = f"<p:grpSp><p:nvGrpSpPr/>{frame}{box('second', 1, 8)}{box('first', 1, 7)}</p:grpSp>"
    assert read(make_pptx(box("below", 1, 4) + group)).text == "first\n\nsecond\n\nbelow\n"


def test_a_placeholder_stands_where_its_layout_has_it(make_pptx: MakePptx) -> None:
    upper = box("", 1, 1).replace("<p:nvPr>", '<p:nvPr><p:ph type="body" idx="4"/>')
    lower = box("", 1, 5).replace("<p:nvPr>", '<p:nvPr><p:ph type="body" idx="9"/>')
    slide = "".join(
        shape(line(text), kind="body").replace('"body"', f'"body" idx="{number}"')
        for text, number in (("below", 9), ("above", 4))
    )
    assert read(make_pptx(slide, layout=upper + lower)).text == "above\n\nbelow\n"


def test_shapes_without_a_place_follow_the_one_before_them(make_pptx: MakePptx) -> None:
    slide = box("below", 1, 4) + shape(line("its note")) + box("above", 1, 1)
    assert read(make_pptx(slide)).text == "above\n\nbelow\n\nits note\n"


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


@pytest.mark.parametrize(
    ("scheme", "text"),
    [
        ("alphaLcParenR", "- a) One\n- b) Two\n"),
        ("alphaUcPeriod", "- A. One\n- B. Two\n"),
        ("romanLcParenBoth", "- (i) One\n- (ii) Two\n"),
        ("arabicPeriod", "1. One\n2. Two\n"),
    ],
)
def test_items_have_the_numbers_that_a_slide_shows(make_pptx: MakePptx, scheme: str, text: str) -> None:
    items = "".join(
        f'<a:p><a:pPr><a:buAutoNum type="{scheme}"/></a:pPr><a:r><a:t>{each}</a:t></a:r></a:p>'
        for each in ("One", "Two")
    )
    assert read(make_pptx(f"<p:sp><p:txBody>{items}</p:txBody></p:sp>")).text == text

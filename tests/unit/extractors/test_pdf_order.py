"""Pages that are drawn in another order than they are read."""

import pytest

from tests.support.pdf_files import at, lines, make_pdf
from transforms.extractors.pdf import extract_pdf
from transforms.extractors.pdf_order import gutters
from transforms.extractors.settings import ExtractSettings

LEFT = [f"Left line {number} goes on with words." for number in range(8)]
RIGHT = [f"Right line {number} goes on with words." for number in range(8)]
TITLE = at(60, 750, "A title that stands over both of the columns of this page", size=16)
FOOT = at(60, 520, "A remark that goes over the whole width of the page, and is as long as that.")


def text(content: str) -> str:
    return extract_pdf(make_pdf(content), ExtractSettings()).text


def rows(lower: float) -> str:
    """Both columns row by row, the right one set lower by so many points."""
    return "".join(
        at(50, 700 - 14 * n, LEFT[n], size=11) + at(320, 700 - lower - 14 * n, RIGHT[n], size=11)
        for n in range(8)
    )


def test_columns_that_are_drawn_row_by_row_are_read_one_after_the_other() -> None:
    expected = "\n".join([*LEFT, *RIGHT])
    for lower in (0, 7):
        assert text(TITLE + rows(lower) + FOOT) == (
            "A title that stands over both of the columns of this page\n\n"
            f"{expected}\n\n"
            "A remark that goes over the whole width of the page, and is as long as that."
        )


def test_the_longest_line_of_a_ragged_column_does_not_run_into_the_next_column() -> None:
    left = [f"Left column line {number} goes here" for number in range(12)]
    right = [f"Right column line {number} stands" for number in range(12)]
    drawn = "".join(at(60, 700 - 14 * n, left[n]) + at(320, 700 - 14 * n, right[n]) for n in range(12))
    assert text(drawn).split("\n") == [*left, *right]


def test_rows_of_a_table_without_lines_stay_rows() -> None:
    cells = "".join(
        at(60, 700 - 14 * n, f"Part {n}") + at(400, 700 - 14 * n, f"{n} pieces") for n in range(12)
    )
    assert text(cells).split("\n")[:2] == ["Part 0 0 pieces", "Part 1 1 pieces"]


def test_a_page_that_is_drawn_from_the_bottom_is_read_from_the_top() -> None:
    assert text("".join(at(60, 600 + 14 * n, f"Line {8 - n}.") for n in range(8))).split("\n") == [
        f"Line {n}." for n in range(1, 9)
    ]


def test_the_order_of_columns_that_are_drawn_as_they_are_read_stays() -> None:
    assert text(lines(*LEFT, x=50) + lines(*RIGHT, x=320)) == "\n".join([*LEFT, *RIGHT])


def test_three_columns_that_are_drawn_row_by_row_are_read_one_after_the_other() -> None:
    columns = [
        [f"{name} column line {number} goes on" for number in range(9)]
        for name in ("Left", "Middle", "Right")
    ]
    drawn = "".join(
        at(x, 700 - 14 * n, column[n], size=9)
        for n in range(9)
        for x, column in zip((30, 220, 410), columns, strict=True)
    )
    assert text(drawn).split("\n") == [line for column in columns for line in column]


def test_gutters_are_gaps_in_the_middle_that_hardly_anything_goes_over() -> None:
    columns = [(50.0, 280.0), (320.0, 550.0)] * 10
    assert gutters(columns, 600) == ((282, 320),)
    assert gutters([*columns, (50.0, 550.0)], 600) == ((282, 320),)
    assert gutters([(50.0, 550.0)] * 20, 600) == ()
    assert gutters([(50.0, 100.0), (130.0, 550.0)] * 10, 600) == ()
    assert gutters(columns[:4], 600) == ()
    assert gutters([*columns, (50.0, 290.0), (310.0, 550.0)], 600) == ((290, 310),)
    assert gutters([*columns, (50.0, 318.0)], 600) == ((282, 320),)
    assert gutters([(40.0, 200.0), (220.0, 380.0), (420.0, 580.0)] * 10, 600) == ((382, 420), (202, 220))


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_page_that_is_shown_turned_is_read_as_its_text_goes(turn: int) -> None:
    page = make_pdf(lines("First line here.", "Second line here."), page=f"/Rotate {turn}")
    assert extract_pdf(page, ExtractSettings()).text == "First line here.\nSecond line here."

"""Raised and lowered signs stand in the lines that they belong to."""

import pytest

from tests.support.pdf_files import at, lines, make_pdf
from transforms.extractors.registry import extract
from transforms.extractors.settings import ExtractSettings

BODY = lines("The second line goes on here as usual.", "The third line goes on here as usual.", top=686)
END = "\nThe second line goes on here as usual.\nThe third line goes on here as usual."


def text_of(page: str) -> str:
    [document] = extract(make_pdf(page), "a.pdf", ExtractSettings()).documents
    return document.text


@pytest.mark.parametrize(
    ("line", "text"),
    [
        pytest.param(
            " BT /F 12 Tf 1 0 0 1 60 700 Tm (This is a claim) Tj 5 Ts /F 7 Tf (12) Tj 0 Ts /F 12 Tf ( of all.) Tj ET ",
            "This is a claim12 of all.",
            id="a rise in a line",
        ),
        pytest.param(
            at(60, 700, "It is 20") + at(105, 704, "o", 7) + at(109, 700, "C, in m") + at(147, 705, "2", 7)
            + at(151, 700, " as before."),
            "It is 20 oC, in m2 as before.",
            id="degrees and squares",
        ),
        pytest.param(
            at(60, 700, "Let x") + at(88, 697, "i", 7) + at(91, 705, "2", 7) + at(96, 700, "be a number."),
            "Let x i2 be a number.",
            id="an index under an exponent",
        ),
    ],
)  # fmt: skip
def test_a_line_goes_on_behind_a_raised_sign(line: str, text: str) -> None:
    assert text_of(line + BODY) == text + END


def test_a_sign_that_is_drawn_last_stands_where_it_is_seen() -> None:
    line = at(60, 700, "This is a claim") + at(153, 700, "that has a mark.")
    assert text_of(line + BODY + at(143, 705, "12", 7)) == "This is a claim12 that has a mark." + END
    line = at(60, 700, "This is a claim.")
    assert text_of(line + BODY + at(140, 705, "12", 7)) == "This is a claim.12" + END


def test_a_footnote_begins_with_its_mark_and_a_space() -> None:
    note = at(60, 104, "12", 6) + at(67, 100, "See the annual report.", 9)
    assert text_of(BODY + note).endswith("usual.\n\n12 See the annual report.")
    star = at(60, 104, "*", 6) + at(63, 100, "University of the Sea.", 9)
    assert text_of(BODY + star).endswith("usual.\n\n* University of the Sea.")


def test_names_that_begin_with_a_number_stay_whole() -> None:
    assert text_of(at(60, 700, "3M and 2D are names.")) == "3M and 2D are names."


def test_small_words_beside_a_line_are_no_signs_of_it() -> None:
    page = at(60, 700, "Left of it") + at(300, 700, "a caption", 7) + BODY
    assert text_of(page) == "Left of it a caption" + END


@pytest.mark.parametrize(
    ("line", "text"),
    [
        pytest.param(
            " BT /F 12 Tf 60 700 Td (About 10) Tj 5 Ts /F 7 Tf (12) Tj 0 Ts /F 12 Tf ( cells in 1998) Tj"
            " 5 Ts /F 7 Tf (3) Tj 0 Ts /F 12 Tf (, log) Tj -3 Ts /F 7 Tf (2) Tj 0 Ts /F 12 Tf (8 of 250.) Tj ET ",
            "About 10\u00b9\u00b2 cells in 1998\u00b3, log\u20828 of 250.",
            id="in a line",
        ),
        pytest.param(
            at(60, 700, "About 10") + at(108.2, 705, "6", 7) + at(115.5, 700, "cells."),
            "About 10\u2076 cells.",
            id="apart",
        ),
        pytest.param(
            " BT /F 12 Tf 60 700 Td (It is 20) Tj /F 8 Tf (24) Tj /F 12 Tf ( now.) Tj ET ",
            "It is 2024 now.",
            id="small, on the line",
        ),
    ],
)  # fmt: skip
def test_exponents_and_marks_do_not_become_part_of_a_number(line: str, text: str) -> None:
    assert text_of(line + BODY) == text + END


def test_an_exponent_that_is_drawn_last_stays_one() -> None:
    line = at(60, 700, "About 10") + at(125, 700, "cells.")
    assert text_of(line + BODY + at(110, 705, "-9", 7)) == "About 10\u207b\u2079 cells." + END

"""What is made of the lines of pages, whoever read them."""

import pytest

from tests.support.pdf_files import at, make_pdf, mapped_font
from transforms.extractors.letters import readable
from transforms.extractors.pdf import extract_pdf
from transforms.extractors.pdf_lines import (
    HYPHEN_AT_LINE_END,
    Line,
    PageLines,
    is_suspect,
    page_texts,
)
from transforms.extractors.settings import ExtractSettings


def page(*texts: str, unmapped: float = 0.0) -> PageLines:
    lines = (Line(text, 60, 100 + 14 * n, 500, 112 + 14 * n) for n, text in enumerate(texts))
    return PageLines(tuple(lines), 800, unmapped)


def broken(before: str, after: str, elsewhere: str = "") -> str:
    [text, *_] = page_texts([page(before + HYPHEN_AT_LINE_END, after), page(elsewhere)])
    return text


@pytest.mark.parametrize(
    ("before", "after", "elsewhere", "text"),
    [
        ("the docu", "ment says", "", "the document says"),
        ("blood", "feeding flies", "a blood-feeding fly", "blood-feeding flies"),
        ("blood", "feeding flies", "blood is blood, feeding is feeding", "blood-feeding flies"),
        ("in", "cluding", "including in in", "including"),
        ("1-n", "octanal", "", "1-n-octanal"),
        ("5", "hepten", "", "5-hepten"),
        ("COVID", "19 cases", "", "COVID-19 cases"),
        ("Anglo", "Saxon", "", "Anglo-Saxon"),
        ("the docu", "1The note", "", "the docu-\n1The note"),
        ("the docu", "1 The note", "", "the docu-\n1 The note"),
    ],
)
def test_a_hyphen_at_a_line_end_goes_only_where_it_was_made_by_the_line_end(
    before: str, after: str, elsewhere: str, text: str
) -> None:
    assert broken(before, after, elsewhere) == text


def test_letters_of_one_sign_keep_their_order_where_lines_go_from_right_to_left() -> None:
    letters = {"m": "0645", "L": "06440627", "s": "0633", "n": "0646", "y": "064A"}
    font, cmap = mapped_font(
        {ord(letter): meaning for letter, meaning in letters.items()} | {32: "0020"}, 7
    )
    document = extract_pdf(make_pdf(at(60, 700, "mLs yn"), font=font, more=[cmap]), ExtractSettings())
    assert document.text == "\u0646\u064a \u0633\u0644\u0627\u0645"


def test_what_typesetting_did_to_letters_is_undone() -> None:
    assert (
        readable("e\ufb03cient Politik\u00adwissen\u00adschaft \ufefb")
        == "efficient Politikwissenschaft لا"
    )
    assert readable("x² ½ Å") == "x² ½ Å"


@pytest.mark.parametrize(
    ("lines", "suspect"),
    [
        (page("Plain words."), False),
        (page("(cid:20)(cid:21)(cid:3) a"), True),
        (page("\ue001\ue002\ue003 ab"), True),
        (page("3HQ SURVWGHGN", unmapped=1.0), True),
        (page("A dingbat \ue001 among words"), False),
        (page(), False),
    ],
)
def test_a_page_of_garbage_is_suspect(lines: PageLines, suspect: bool) -> None:
    assert is_suspect(lines) is suspect

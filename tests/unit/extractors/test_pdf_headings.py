"""Headings and lists of PDFs that have no bookmarks."""

from tests.support.pdf_files import at, lines, make_pdf
from transforms.extractors.pdf import extract_pdf
from transforms.extractors.settings import ExtractSettings
from transforms.model.document import BlockKind

TEXT = [
    "The pump draws water from the well and lifts it",
    "to the tank above the house, where it is kept",
    "cool.",
]


def headings(data: bytes) -> list[tuple[int | None, str | None]]:
    document = extract_pdf(data, ExtractSettings())
    return [(block.level, block.title) for block in document.blocks if block.kind is BlockKind.HEADING]


def test_short_lines_in_larger_letters_are_headings_and_each_size_is_a_level() -> None:
    page = at(60, 740, "The pump", size=24) + at(60, 700, "Water", size=16) + lines(*TEXT, top=670)
    page += at(60, 600, "Power for the", size=16) + at(60, 582, "motor", size=16) + lines(*TEXT, top=550)
    data = make_pdf(page)
    assert headings(data) == [(1, "The pump"), (2, "Water"), (2, "Power for the motor")]
    assert extract_pdf(data, ExtractSettings()).text.startswith("The pump\n\nWater\n\nThe pump draws")


def test_a_title_right_above_a_heading_of_its_size_is_a_title_of_its_own() -> None:
    page = (
        at(60, 740, "Annual Report", size=16)
        + at(60, 720, "Aims of the work", size=16)
        + lines(*TEXT, top=690)
    )
    page += at(60, 600, "Pumps", size=16) + at(60, 580, "2 Power", size=16) + lines(*TEXT, top=550)
    page += at(60, 460, "All about the", size=16) + at(60, 440, "Sea", size=16) + lines(*TEXT, top=410)
    page += (
        at(60, 320, "The motors that we use and", size=16)
        + at(60, 300, "Mend", size=16)
        + lines(*TEXT, top=270)
    )
    assert headings(make_pdf(page, lines(*TEXT, *TEXT, *TEXT))) == [
        (1, "Annual Report"),
        (1, "Aims of the work"),
        (1, "Pumps"),
        (1, "2 Power"),
        (1, "All about the Sea"),
        (1, "The motors that we use and Mend"),
    ]


def test_a_title_that_fills_its_line_goes_on_in_the_next() -> None:
    page = at(60, 740, "The Wells of Dry Counties", size=18) + at(60, 718, "Mended Together", size=18)
    page += lines(*TEXT, top=690)
    assert headings(make_pdf(page, lines(*TEXT, *TEXT))) == [
        (1, "The Wells of Dry Counties Mended Together")
    ]


def test_a_page_of_large_letters_has_no_headings() -> None:
    assert (
        headings(make_pdf("".join(at(60, 740 - 40 * n, text, size=24) for n, text in enumerate(TEXT))))
        == []
    )


def test_larger_letters_of_a_sum_or_a_sign_are_no_headings() -> None:
    assert (
        headings(make_pdf(lines(*TEXT) + at(60, 500, "1,250.00", size=20) + at(60, 450, "***", size=20)))
        == []
    )


def test_lines_with_bullets_are_a_list_also_where_a_font_of_symbols_draws_them() -> None:
    page = lines(TEXT[0]) + lines("\\225 the motor", "\\225 the shaft", top=650)
    document = extract_pdf(make_pdf(page), ExtractSettings())
    assert [(b.kind, document.text[b.start : b.end]) for b in document.blocks] == [
        (BlockKind.PARAGRAPH, TEXT[0]),
        (BlockKind.LIST, "\u2022 the motor\n\u2022 the shaft"),
    ]

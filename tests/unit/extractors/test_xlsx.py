"""What is read out of workbooks."""

import datetime
from collections.abc import Callable

import pytest

from transforms.extractors.office import extract_xlsx
from transforms.extractors.settings import ExtractSettings
from transforms.extractors.xlsx import cell_text
from transforms.extractors.xlsx_cells import CellFacts
from transforms.model.document import BlockKind, Document
from transforms.model.errors import RejectedError

MakeXlsx = Callable[..., bytes]


def read(data: bytes, **settings: object) -> Document:
    return extract_xlsx(data, "a.xlsx", ExtractSettings.model_validate(settings))


def sheet(*cells: str, after: str = "") -> str:
    """Cells as ``B2=text``; a number is one, ``B2=5:=A1*2`` has a formula, ``B2=@45000.5`` is a date."""
    rows: dict[int, str] = {}
    for written in cells:
        reference, _, value = written.partition("=")
        value, _, formula = value.partition(":=")
        row = int(reference.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
        code = f"<f>{formula}</f>" if formula else ""
        if value.startswith("@"):
            xml = f'<c r="{reference}" s="1"><v>{value[1:]}</v></c>'
        elif value.replace(".", "").isdigit():
            xml = f'<c r="{reference}">{code}<v>{value}</v></c>'
        else:
            xml = f'<c r="{reference}" t="inlineStr"><is><t>{value}</t></is></c>'
        rows[row] = rows.get(row, "") + xml
    data = "".join(f'<row r="{row}">{content}</row>' for row, content in sorted(rows.items()))
    return f"<sheetData>{data}</sheetData>{after}"


def test_each_sheet_is_a_heading_and_a_table_parted_at_blank_rows(make_xlsx: MakeXlsx) -> None:
    data = make_xlsx(
        {
            "Prices": sheet("A1=Prices of 2024", "A3=Item", "B3=Euro", "A4=Bolt|nut", "B4=2.5"),
            "Notes": sheet("B2=Checked"),
        }
    )
    document = read(data)
    assert document.text == (
        "# Prices\n\nPrices of 2024\n\n| Item | Euro |\n| --- | --- |\n| Bolt\\|nut | 2.5 |\n\n# Notes\n\nChecked\n"
    )
    assert [block.kind for block in document.blocks][:3] == [
        BlockKind.HEADING,
        BlockKind.PARAGRAPH,
        BlockKind.TABLE,
    ]


def test_formulas_give_the_value_they_had_when_the_file_was_saved(make_xlsx: MakeXlsx) -> None:
    assert read(make_xlsx({"S": sheet("A1=2", "B1=4:=A1*2")})).text == "# S\n\n| 2 | 4 |\n| --- | --- |\n"


def test_dates_are_iso_and_have_a_time_only_where_there_is_one(make_xlsx: MakeXlsx) -> None:
    assert read(make_xlsx({"S": sheet("A1=@45292", "B1=@45292.75")})).text == (
        "# S\n\n| 2024-01-01 | 2024-01-01T18:00:00 |\n| --- | --- |\n"
    )


def test_merged_cells_are_repeated(make_xlsx: MakeXlsx) -> None:
    merged = '<mergeCells count="1"><mergeCell ref="A1:A2"/></mergeCells>'
    assert read(make_xlsx({"S": sheet("A1=both", "B1=1", "B2=2", after=merged)})).text == (
        "# S\n\n| both | 1 |\n| --- | --- |\n| both | 2 |\n"
    )


def test_hidden_sheets_are_kept_and_marked(make_xlsx: MakeXlsx) -> None:
    data = make_xlsx({"Open": sheet("A1=a"), "Lists": sheet("A1=b")}, hidden="Lists")
    assert read(data).text == "# Open\n\na\n\n# Lists (hidden)\n\nb\n"


def test_sheets_without_cells_leave_no_heading(make_xlsx: MakeXlsx) -> None:
    assert read(make_xlsx({"Empty": sheet(), "Full": sheet("A1=x")})).text == "# Full\n\nx\n"


def test_a_cell_in_the_last_corner_does_not_cost_the_whole_rectangle(make_xlsx: MakeXlsx) -> None:
    cells = ("A1=Item", "B1=Euro", "A2=Bolt", "B2=2.5", "A4=Sum", "B4=2.5", "XFD1048576=stray")
    data = make_xlsx(
        {"S": sheet(*cells, after='<mergeCells><mergeCell ref="A4:A5"/></mergeCells>'), "T": sheet("C3=y")}
    )
    assert read(data).text == (
        "# S\n\n| Item | Euro |\n| --- | --- |\n| Bolt | 2.5 |\n\n"
        "| Sum | 2.5 |\n| --- | --- |\n\nstray\n\n# T\n\ny\n"
    )


def test_cells_that_have_only_a_format_cost_nothing(make_xlsx: MakeXlsx) -> None:
    cells = '<row r="1"><c r="A1"><v>5</v></c></row><row r="1048576"><c r="XFD1048576" s="1"/></row>'
    assert read(make_xlsx({"S": f"<sheetData>{cells}</sheetData>"})).text == "# S\n\n5\n"


def test_merged_cells_and_dates_are_read_in_a_sheet_with_gaps(make_xlsx: MakeXlsx) -> None:
    merged = '<mergeCells><mergeCell ref="A1:A2"/><mergeCell ref="C9:D9"/></mergeCells>'
    data = make_xlsx({"S": sheet("A1=both", "B1=1", "B2=@45000", "XFD1000000=z", after=merged)})
    assert read(data).text.startswith("# S\n\n| both | 1 |\n| --- | --- |\n| both | 2023-03-15 |\n")


def test_a_sheet_that_is_full_up_to_far_away_is_too_large(
    make_xlsx: MakeXlsx, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transforms.extractors.xlsx.MAX_CELLS", 8)
    with pytest.raises(RejectedError, match=r"too_large: .*row 1048576 and column 16384"):
        read(make_xlsx({"S": sheet("A1=x", "C3=z", "XFD1048576=y")}))


def test_entities_are_refused_before_anything_reads_them(make_xlsx: MakeXlsx) -> None:
    bomb = '<!DOCTYPE sst [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><sst>&b;</sst>'
    with pytest.raises(RejectedError, match=r"corrupt: .*document type"):
        read(make_xlsx({"S": sheet("A1=x")}, shared=bomb))


def test_a_workbook_that_expands_too_far_is_a_bomb(make_xlsx: MakeXlsx) -> None:
    with pytest.raises(RejectedError, match="decompression_bomb"):
        read(make_xlsx({"S": sheet("A1=" + "x" * 100_000)}), max_expanded_bytes=50_000)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "TRUE"),
        (0.1 + 0.2, "0.3"),
        (12345678901234567, "12345678901234567"),
        (datetime.datetime(2024, 1, 1, 23, 59, 59, 600_000), "2024-01-02"),
        (datetime.time(7, 5), "07:05:00"),
        (datetime.timedelta(hours=36, minutes=15), "36:15:00"),
        ("  text ", "text"),
        ("", ""),
    ],
)
def test_values_are_written_as_a_workbook_shows_them(value: object, text: str) -> None:
    assert cell_text(value) == text


def test_errors_are_shown_as_a_workbook_shows_them(make_xlsx: MakeXlsx) -> None:
    cells = (
        '<row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>2</v></c></row>'
        '<row r="2"><c r="A2" t="e"><f>1/0</f><v>#DIV/0!</v></c><c r="B2" s="1" t=\'e\'><v>#N/A</v></c></row>'
    )
    document = read(make_xlsx({"S": f"<sheetData>{cells}</sheetData>", "T": sheet("XFD1048576=y")}))
    assert document.text == "# S\n\n| 1 | 2 |\n| --- | --- |\n| #DIV/0! | #N/A |\n\n# T\n\ny\n"
    assert document.warnings == ()


def test_formulas_that_no_program_has_computed_are_counted(make_xlsx: MakeXlsx) -> None:
    cells = (
        '<row r="1"><c r="A1"><v>1</v></c><c r="B1"><f>A1*2</f></c><c r="C1"><f>A1*3</f><v/></c></row>'
        '<row r="2"><c r="A2" t="str"><f>""</f><v></v></c><c r="B2"><f t="shared" si="0"/><v></v></c></row>'
        '<row r="4"><c r="A4" t="inlineStr"><is><t>of</t></is><v/></c><c r="B4"><v/></c></row>'
        '<row r="3"><c r="A3"><f>A1</f><v>1</v></c><c r="B3" t="b"><f>TRUE()</f><v>1</v></c></row>'
    )
    assert read(make_xlsx({"S": f"<sheetData>{cells}</sheetData>"})).warnings == (
        "formulas_without_values=3",
    )


def test_cells_are_counted_once_wherever_a_sheet_is_cut() -> None:
    cells = (
        b'<c r="A1"><f>A1*2</f></c><c r="B1" t="e"><f>1/0</f><v>#DIV/0!</v></c><c r="A2"><f>A1</f><v/></c>'
        * 3
    )
    for size in (1, 7, 50, 1000):
        facts = CellFacts()
        for start in range(0, len(cells), size):
            facts.look_at(cells[start : start + size])
        assert (facts.errors, facts.uncomputed) == (True, 6)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (622848000112345024, "622848000112345000"),
        (-622848000112345024, "-622848000112345000"),
        (601999999999999995805696, "6.02e+23"),
        (99999999999999999, "99999999999999999"),
    ],
)
def test_no_digits_are_made_up(value: int, text: str) -> None:
    assert cell_text(value) == text

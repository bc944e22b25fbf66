"""Charts of slides and Word files."""

import io
import zipfile
from collections.abc import Callable

from tests.support.office_files import RELATIONS, relations, zip_of
from transforms.extractors.registry import extract
from transforms.extractors.settings import ExtractSettings

Make = Callable[..., bytes]
NAMES = (
    'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
)

DIAGRAM = 'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'


def cache(kind: str, *values: str, form: str = "") -> str:
    points = "".join(
        f'<c:pt idx="{n}"><c:v>{value}</c:v></c:pt>' for n, value in enumerate(values) if value
    )
    return f"<c:{kind}Ref><c:f>S!A1</c:f><c:{kind}Cache>{form}{points}</c:{kind}Cache></c:{kind}Ref>"


def series(name: str, names: str, *values: str) -> str:
    title = f"<c:tx>{cache('str', name)}</c:tx>" if name else ""
    return f"<c:ser>{title}<c:cat>{names}</c:cat><c:val>{cache('num', *values)}</c:val></c:ser>"


def title(text: str) -> str:
    return f"<c:title><c:tx><c:rich><a:p><a:r><a:t>{text}</a:t></a:r></a:p></c:rich></c:tx></c:title>"


def chart(*shown: str, axis: str = "") -> str:
    plot = f"<c:plotArea><c:barChart>{''.join(shown)}</c:barChart><c:valAx>{axis}</c:valAx></c:plotArea>"
    return f"<c:chartSpace {NAMES}><c:chart>{title('Sold parts')}{plot}</c:chart></c:chartSpace>"


POINTER = (
    '<a:graphic><a:graphicData><c:chart xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" r:id="c"/>'
    "</a:graphicData></a:graphic>"
)


def read(data: bytes, name: str, holder: str, part: str) -> str:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {each: archive.read(each) for each in archive.namelist()}
    folder, _, base = holder.rpartition("/")
    members[f"{folder}/_rels/{base}.rels"] = relations(
        ("c", f"{RELATIONS}/chart", "../charts/chart1.xml")
    ).encode()
    members[
        f"{folder.partition('/')[0] if name.endswith('pptx') else ''}/charts/chart1.xml".lstrip("/")
    ] = part.encode()
    [document] = extract(zip_of(members), name, ExtractSettings()).documents
    return document.text


def test_a_chart_of_a_slide_is_a_table_of_what_it_shows(make_pptx: Make) -> None:
    years = cache("str", "2023", "2024", "2025")
    part = chart(
        series("Bolts", years, "5", "", "7.5"), series("", years, "1", "2"), axis=title("Thousands")
    )
    text = read(
        make_pptx(f"<p:graphicFrame>{POINTER}</p:graphicFrame>"), "a.pptx", "ppt/slides/slide1.xml", part
    )
    assert text == (
        "Sold parts\n\n|  | Bolts | Series 2 |\n| --- | --- | --- |\n| 2023 | 5 | 1 |\n| 2024 |  | 2 |\n"
        "| 2025 | 7.5 |  |\n\nThousands\n"
    )


def test_series_over_other_places_are_tables_of_their_own(make_pptx: Make) -> None:
    part = chart(
        *(
            series(name, cache("num", x), y)
            for name, x, y in (("A", "1", "5"), ("B", "1", "6"), ("C", "2", "7"))
        )
    )
    text = read(
        make_pptx(f"<p:graphicFrame>{POINTER}</p:graphicFrame>"), "a.pptx", "ppt/slides/slide1.xml", part
    )
    assert text.split("\n\n")[1:] == [
        "|  | A | B |\n| --- | --- | --- |\n| 1 | 5 | 6 |",
        "|  | C |\n| --- | --- |\n| 2 | 7 |\n",
    ]


def test_a_chart_of_a_word_file_stands_behind_its_paragraph(make_docx: Make) -> None:
    days = cache("num", "45292", "45293.5", form="<c:formatCode>d/m/yyyy</c:formatCode>")
    drawing = f"<w:r><w:drawing>{POINTER}</w:drawing></w:r>"
    body = f"<w:p><w:r><w:t>See this.</w:t></w:r>{drawing}</w:p><w:p><w:r><w:t>End.</w:t></w:r></w:p>"
    text = read(make_docx(body), "a.docx", "word/document.xml", chart(series("Nuts", days, "3", "4")))
    rows = "|  | Nuts |\n| --- | --- |\n| 2024-01-01 | 3 |\n| 2024-01-02T12:00:00 | 4 |"
    assert text == f"See this.\n\nSold parts\n\n{rows}\n\nEnd.\n"


def test_a_chart_in_a_table_stands_behind_the_table(make_docx: Make) -> None:
    cell = f"<w:tc><w:p><w:r><w:t>a</w:t><w:drawing>{POINTER}</w:drawing></w:r></w:p></w:tc>"
    body = f"<w:tbl><w:tr>{cell}<w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
    text = read(
        make_docx(body), "a.docx", "word/document.xml", chart(series("Nuts", cache("str", "x"), "3"))
    )
    assert text == "| a | b |\n| --- | --- |\n\nSold parts\n\n|  | Nuts |\n| --- | --- |\n| x | 3 |\n"


def test_a_diagram_of_a_word_file_is_a_list_behind_its_paragraph(make_docx: Make) -> None:
    lines = "".join(f"<dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t>" for text in ("Plan", "Build"))
    data = f"<dgm:dataModel {DIAGRAM} {NAMES}>{lines}</dgm:dataModel>"
    pointer = f'<w:drawing><dgm:relIds {DIAGRAM} r:dm="c"/></w:drawing>'
    body = f"<w:p><w:r><w:t>Steps:</w:t></w:r><w:r>{pointer}</w:r></w:p>"
    assert read(make_docx(body), "a.docx", "word/document.xml", data) == "Steps:\n\n- Plan\n- Build\n"


def test_a_chart_that_is_damaged_costs_no_text(make_docx: Make) -> None:
    body = f"<w:p><w:r><w:t>See this.</w:t><w:drawing>{POINTER}</w:drawing></w:r></w:p>"
    for part in ("<c:chartSpace", f"<!DOCTYPE x><c:chartSpace {NAMES}/>"):
        assert read(make_docx(body), "a.docx", "word/document.xml", part) == "See this.\n"

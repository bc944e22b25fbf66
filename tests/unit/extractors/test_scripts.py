"""Numbers that stand raised or lowered beside a number do not become part of it, in any format."""

from collections.abc import Callable

import pytest

from transforms.extractors.registry import extract
from transforms.extractors.scripts import lowered, raised, settled
from transforms.extractors.settings import ExtractSettings

Make = Callable[..., bytes]


def read(data: bytes, name: str) -> str:
    [document] = extract(data, name, ExtractSettings()).documents
    return document.text.strip()


@pytest.mark.parametrize(
    ("marked", "text"),
    [
        (f"10{raised('6')} cells", "10⁶ cells"),
        (f"10{raised('-')}{raised('9')} m", "10⁻⁹ m"),
        (f"in 1998{raised('3')}, then", "in 1998³, then"),
        (f"log{lowered('2')}8", "log₂8"),
        (f"x{lowered('1')}{raised('2')}", "x₁²"),
        (f"E = mc{raised('2')}, H{lowered('2')}O", "E = mc2, H2O"),
        (f"1{raised('st')} of 10{raised('n')}", "1st of 10n"),
        (f"10 {raised('6')}", "10 6"),
        (raised(""), ""),
        ("plain \u00b2", "plain \u00b2"),
    ],
)
def test_only_numbers_that_touch_a_number_are_written_raised(marked: str, text: str) -> None:
    assert settled(marked) == text


def test_numbers_of_a_page_that_are_raised_or_lowered_stay_so() -> None:
    page = b"<p>10<sup>6</sup> and <i>10</i><sup><b>-9</b></sup></p><ul><li>10<sup>6</sup></ul><h2>2<sup>10</sup></h2>"
    assert read(page, "a.html") == "10⁶ and 10⁻⁹\n\n- 10⁶\n\n## 2¹⁰"


def test_numbers_of_a_word_file_that_are_raised_stay_so(make_docx: Make) -> None:
    def run(text: str, place: str = "baseline") -> str:
        return f'<w:r><w:rPr><w:vertAlign w:val="{place}"/></w:rPr><w:t>{text}</w:t></w:r>'

    power = f"{run('10')}{run('-', 'superscript')}{run('6', 'superscript')}"
    body = f"<w:p>{power}{run(' of H')}{run('2', 'subscript')}{run('O')}</w:p>"
    assert read(make_docx(body), "a.docx") == "10⁻⁶ of H2O"


def test_numbers_that_a_style_of_a_word_file_raises_stay_so(make_docx: Make) -> None:
    styles = '<w:style w:type="character" w:styleId="Up"><w:rPr><w:vertAlign w:val="superscript"/></w:rPr></w:style>'
    body = '<w:p><w:r><w:t>10</w:t></w:r><w:r><w:rPr><w:rStyle w:val="Up"/></w:rPr><w:t>6</w:t></w:r></w:p>'
    assert read(make_docx(body, styles=styles), "a.docx") == "10⁶"


def test_numbers_of_a_slide_that_are_raised_or_lowered_stay_so(make_pptx: Make) -> None:
    def run(text: str, baseline: int) -> str:
        return f'<a:r><a:rPr baseline="{baseline}"/><a:t>{text}</a:t></a:r>'

    lines = f"<a:p>{run('10', 0)}{run('6', 30000)}{run(' log', 0)}{run('2', -25000)}{run('8', 0)}</a:p>"
    shape = f"<p:sp><p:txBody>{lines}</p:txBody></p:sp>"
    assert read(make_pptx(shape), "a.pptx") == "10⁶ log₂8"


def test_numbers_of_restructured_text_that_are_raised_stay_so() -> None:
    assert read(rb"10\ :sup:`6`\  m and H\ :sub:`2`\ O.", "a.rst") == "10⁶ m and H2O."

"""How one file is shown as it is cut, in the terminal and as a page."""

import json
import re
from pathlib import Path

import pytest
from lxml import html as lxml_html

from pipeline.commands import preview
from transforms.model.errors import ConfigError

CORPUS = Path(__file__).parents[3] / "examples" / "corpus"


def page_of(tmp_path, file, *strategies):
    target = tmp_path / "page.html"
    code = preview.run(str(file), strategies, config=None, source=None, html=target, open_page=False)
    assert code == 0
    return target.read_text(encoding="utf-8")


def columns(page):
    """The text of each cell as a reader sees it, without the numbers of chunks."""
    cells = lxml_html.fromstring(page).xpath("//div[contains(@class, 'text')]")
    return ["".join(cell.xpath(".//span/text()")) for cell in cells]


def details(page):
    script = re.search(r'<script type="application/json" id="details">(.*?)</script>', page, re.DOTALL)
    assert script is not None
    return json.loads(script[1])


def test_two_strategies_stand_side_by_side_and_each_shows_the_whole_text(tmp_path):
    file = tmp_path / "a.md"
    file.write_text("# One\n\nFirst words.\n\n# Two\n\nSecond words.\n")
    page = page_of(tmp_path, file, "verbatim", "sections")
    assert columns(page) == [file.read_text(), file.read_text()]
    shown = details(page)
    assert shown["0-1-1"]["facts"] == "chunk 2 \u00b7 20 characters \u00b7 5 tokens \u00b7 Two \u00b7 whole"
    assert shown["0-1-1"]["embedded"].endswith("Second words.")


def test_whatever_a_file_holds_is_text_in_the_page(tmp_path):
    file = tmp_path / "<img src=x onerror=alert(1)>.txt"
    text = "</script><script>alert(1)</script> {{ 7 * 7 }} <!-- & \u2028 'quoted' \"too\"\n"
    file.write_text(text, encoding="utf-8")
    page = page_of(tmp_path, file)
    assert columns(page) == [text]
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "</script><script>" in details(page)["0-0-0"]["embedded"]


def test_the_pages_of_a_pdf_have_pictures_beside_their_text(tmp_path):
    page = page_of(tmp_path, CORPUS / "manuals" / "field-handbook.pdf")
    rows = lxml_html.fromstring(page).xpath("//img/@alt")
    assert rows[:2] == ["Page 1", "Page 2"]
    assert "Rover club workshop" in columns(page)[0]


def test_the_page_fetches_nothing(tmp_path):
    page = page_of(tmp_path, CORPUS / "workshop" / "soldering.html")
    assert "default-src 'none'" in page
    assert not re.search(r"(src|href)=[\"'](?!data:)", page)


def test_the_terminal_shows_each_chunk_with_its_facts(tmp_path, capsys):
    file = tmp_path / "a.md"
    file.write_text("# One\n\nFirst words.\n\n# Two\n\nSecond words.\n")
    preview.run(str(file), ["sections"], config=None, source=None, html=None, open_page=False)
    shown = capsys.readouterr().out
    assert "a.md  sections: 2 chunks; characters 19 to 20" in shown
    assert "\u25b8 chunk 2 \u00b7 20 characters \u00b7 5 tokens \u00b7 Two \u00b7 whole" in shown


def test_of_many_records_the_first_are_shown_and_it_says_so(tmp_path, capsys):
    file = tmp_path / "many.jsonl"
    file.write_text("".join(f'{{"id": "{n}", "text": "Record {n}."}}\n' for n in range(60)))
    job = tmp_path / "job.yaml"
    job.write_text(
        f"version: 1\ntable: {tmp_path}/t\nsources:\n  - name: all\n    root: {tmp_path}\n"
        "    extract: {records: {id: id, text: [text]}}\n"
    )
    preview.run(str(file), [], config=job, source=None, html=None, open_page=False)
    assert "The first 50 of 60 documents" in capsys.readouterr().out


@pytest.mark.parametrize("place", ["nowhere.md", "file:///nowhere/a.md"])
def test_a_file_that_is_not_there_is_told(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"cannot be read"):
        preview.run(place, [], config=None, source=None, html=None, open_page=False)


def test_an_object_is_read_by_its_uri(tmp_path, capsys):
    (tmp_path / "a #1?.md").write_text("# One\n")
    place = f"file://{tmp_path}/a #1?.md"
    preview.run(place, [], config=None, source=None, html=None, open_page=False)
    assert "1 chunk" in capsys.readouterr().out


def test_what_would_steer_a_terminal_is_shown_and_not_obeyed(tmp_path, capsys):
    file = tmp_path / "a.txt"
    file.write_text("Red \x1b[31malert\x1b]0;title\x07 and \u202eback.\n\tA tab.\n", encoding="utf-8")
    preview.run(str(file), [], config=None, source=None, html=None, open_page=False)
    shown = capsys.readouterr().out
    assert "Red \ufffd[31malert\ufffd]0;title\ufffd and \ufffdback." in shown
    assert "\x1b[31malert" not in shown

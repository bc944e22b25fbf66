"""Pages for people in a real browser: they show, complain of nothing, fit a phone, and say what the records say."""

import json
import shutil
from pathlib import Path

import pytest

from pipeline.commands import evaluate, preview
from pipeline.config import JobConfig
from pipeline.run import run_job

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "examples" / "corpus"
WIDTHS = (1300, 390)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """By name the pages that the program writes, of a corpus that changed once and has a file that is none."""
    folder = tmp_path_factory.mktemp("pages")
    shutil.copytree(CORPUS, folder / "corpus")
    (folder / "corpus" / "support" / "broken.pdf").write_bytes(b"%PDF-1.4 and no more")
    sources = [{"name": one, "root": str(folder / "corpus" / one)} for one in ("support", "workshop")]
    job = {"table": str(folder / "table"), "sources": sources, "limits": {"max_rejected_share": 0.9}}
    run_job(JobConfig.model_validate(job))
    (folder / "corpus" / "workshop" / "tool-loans.txt").unlink()
    run_job(JobConfig.model_validate(job))
    (folder / "job.yaml").write_text(json.dumps(job))
    question = {"question": "How hot should the iron be?", "documents": ["workshop/soldering.html"]}
    (folder / "questions.jsonl").write_text(json.dumps(question) + "\n")
    variants = [{"name": "as the job"}, {"name": "sections", "strategy": "sections"}]
    settings = {
        "job": str(folder / "job.yaml"),
        "questions": str(folder / "questions.jsonl"),
        "variants": variants,
    }
    (folder / "evaluate.yaml").write_text(json.dumps(settings))
    evaluate.run(folder / "evaluate.yaml", html=folder / "evaluation.html", as_json=True)
    preview.run(
        str(CORPUS / "manuals" / "field-handbook.pdf"), ["verbatim", "sections"], config=None, source=None,
        html=folder / "preview.html", open_page=False,
    )  # fmt: skip
    return {
        "report": folder / "table" / "snapshots" / "000002" / "report.html",
        "evaluation": folder / "evaluation.html",
        "preview": folder / "preview.html",
    }


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["report", "evaluation", "preview"])
def test_a_page_shows_without_complaint_and_fits_the_width(browser, pages, name, width):
    browser.open(pages[name], width)
    browser.save(f"{name}-{width}")
    assert browser.complaints() == []
    assert browser.run("return document.documentElement.scrollWidth") <= width
    small = browser.run(
        "return [...document.querySelectorAll('main *')]"
        ".filter((one) => one.childElementCount === 0 && one.textContent.trim() && one.checkVisibility()"
        "  && parseFloat(getComputedStyle(one).fontSize) < 11).map((one) => one.textContent)"
    )
    assert small == []


def test_the_numbers_of_the_report_are_those_of_its_record(browser, pages):
    record = json.loads((pages["report"].parent / "report.json").read_text())
    browser.open(pages["report"], 1300)
    shown = browser.run(
        "return Object.fromEntries([...document.querySelectorAll('[data-count]')]"
        ".map((one) => [one.dataset.count, Number(one.querySelector('b').textContent.replaceAll(',', ''))]))"
    )
    assert shown == record["counts"]
    plotted = browser.run(
        "return Object.fromEntries([...document.querySelectorAll('.chart')].map((figure) => "
        "[figure.querySelector('figcaption').textContent,"
        " Chart.getChart(figure.querySelector('canvas')).data.datasets.map((one) => one.data)]))"
    )
    by_size = sorted(record["sources"], key=lambda name: -record["sources"][name]["chunks"])
    assert plotted["Documents by source"] == [[record["sources"][name]["documents"] for name in by_size]]
    assert plotted["Rejected documents by reason"] == [list(record["rejected"].values())]
    assert "broken.pdf" in browser.run("return document.body.innerText")


def test_every_plot_has_something_drawn(browser, pages):
    browser.open(pages["report"], 1300, 4000)
    blank = browser.run(
        "return [...document.querySelectorAll('canvas')].filter((canvas) => {"
        " const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;"
        " return !data.some((value) => value !== 0); }).length"
    )
    assert browser.run("return document.querySelectorAll('canvas').length") >= 5
    assert blank == 0


def test_pointing_at_a_chunk_shows_what_is_known_of_it(browser, pages):
    browser.open(pages["preview"], 1300)
    browser.run(
        "document.querySelector('[data-chunks]').dispatchEvent(new MouseEvent('mouseover', {bubbles: true}))"
    )
    said = browser.run("return document.getElementById('facts').innerText")
    assert said.startswith("chunk 1 \u00b7 ")
    assert "Field handbook for the six-wheel rover" in said
    assert browser.run("return document.querySelectorAll('.chosen').length") >= 1
    browser.save("preview-chosen")

"""The reference pages say what the code says."""

import re
from pathlib import Path

import pytest

from docs.generate import filled
from pipeline.config import load_config

ROOT = Path(__file__).parents[3]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "benchmarks" / "README.md"])
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))


@pytest.mark.parametrize("page", ["commands.md", "configuration.md", "table.md"])
def test_a_page_of_reference_is_what_make_docs_writes(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert "<!-- begin" in text
    assert text == filled(text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_each_decision_has_a_number_of_its_own_which_its_heading_says() -> None:
    numbers = [int(path.name[:4]) for path in DECISIONS]
    assert sorted(set(numbers)) == numbers
    headings = [path.read_text(encoding="utf-8").partition(". ")[0] for path in DECISIONS]
    assert headings == [f"# {number}" for number in numbers]


def configurations() -> list[tuple[str, str]]:
    """The complete configurations that the pages show."""
    blocks = [
        (page.name, block)
        for page in PAGES
        for block in re.findall(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    ]
    return [(name, block) for name, block in blocks if "sources:" in block]


@pytest.mark.parametrize(("name", "text"), configurations(), ids=lambda value: value.split("\n")[0])
def test_a_configuration_that_a_page_shows_is_valid(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    # A page about sources shows these alone.
    path.write_text(text if "table:" in text else f"table: anywhere\n{text}", encoding="utf-8")
    load_config(path, env={"CORPUS_BUCKET": "example-corpus", "TABLE_BUCKET": "example-tables"})

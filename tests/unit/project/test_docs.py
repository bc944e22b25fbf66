"""The reference pages say what the code says."""

import re
from pathlib import Path

import pytest

from docs.generate import filled

ROOT = Path(__file__).parents[3]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


@pytest.mark.parametrize("page", ["configuration.md", "table.md"])
def test_a_page_of_reference_is_what_make_docs_writes(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert "<!-- begin" in text
    assert text == filled(text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []

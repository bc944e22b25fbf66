"""Every reason is documented, and every reason that is raised is known."""

import re
from pathlib import Path

from transforms.extractors.outcome import outcome_of
from transforms.extractors.reasons import OUTCOMES, REASONS

ROOT = Path(__file__).parents[3]


def test_every_reason_that_extractors_raise_is_known() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "transforms/extractors").glob("*.py")]
    raised = {slug for source in sources for slug in re.findall(r'RejectedError\(\s*"(\w+)"', source)}
    assert raised
    assert raised <= set(REASONS)


def test_the_page_of_formats_lists_every_reason() -> None:
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    assert [slug for slug, meaning in REASONS.items() if f"| `{slug}` | {meaning} |" not in page] == []


def test_reasons_without_a_state_of_their_own_are_rejected() -> None:
    assert set(OUTCOMES) <= set(REASONS)
    assert outcome_of("too_deep") == "rejected"
    assert outcome_of("pdf_encrypted") == "encrypted"

"""Header fields and dates: the faults of the system they come from, by id, and what is wanted instead."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from transforms.chunkers.dates import parse_date
from transforms.chunkers.header import Header, header_of
from transforms.chunkers.settings import ChunkSettings
from transforms.model.document import Document, Page, canonical_text
from transforms.structure.blocks import parse_blocks


def read(text: str, pages: tuple[Page, ...] = (), **header: Any) -> Header:
    text = canonical_text(text)
    document = Document(text, parse_blocks(text, "markdown"), "text/markdown", "test/1", pages=pages)
    return header_of(document, ChunkSettings.model_validate({"header": header}))


def test_nothing_is_read_unless_asked_for() -> None:
    document = Document("Title: X", (), "text/plain", "test/1")
    assert header_of(document, ChunkSettings()) == Header()


def test_a_cover_with_labels_gives_every_field() -> None:
    found = read(
        "Document WRPS-OPS-014\nTitle: Starting pump P-101\nRevision: 7\nEffective date: 14 March 2026\n"
        "Authorised by: Plant Operations Manager\n"
    )
    assert found == Header(
        "WRPS-OPS-014",
        "7",
        date(2026, 3, 14),
        "14 March 2026",
        "Starting pump P-101",
        "Plant Operations Manager",
    )


@pytest.mark.parametrize(
    "text",
    ["Last review: none", "Issued to all", "We can revoke it", "Issue date", "Revision\nDate", "reverse flow",
     "Revision history", "Issue 02/05/2026"],
)  # fmt: skip
def test_Y21_no_revision_is_found_inside_words_or_on_another_line(text: str) -> None:
    assert read(text).revision is None


@pytest.mark.parametrize(
    ("text", "revision"),
    [("Rev 3", "3"), ("Revision: B2", "B2"), ("rev. C", "C"), ("Issue No. 12", "12"), ("Last review: no\nRev: A", "A")],
)  # fmt: skip
def test_Y21_a_revision_stands_behind_its_label(text: str, revision: str) -> None:
    assert read(text).revision == revision


def test_Y22_line_ends_of_any_kind() -> None:
    found = read("Title: Pump\r\nAuthorised by: Ann\r\n")
    assert (found.title, found.authorising_role) == ("Pump", "Ann")


def test_Y23_a_column_of_labels_is_paired_with_a_column_of_values() -> None:
    text = (
        "Riverside Pumping Station\nCONTROLLED DOCUMENT\nDocument number\nTitle\nRevision\nEffective date\n"
        "Authorising role\nWRPS-CTL-001\nChlorine dosing control\nRev 3\nEffective 02/05/2026\nProcess Engineer\n"
        "Review this document every two years.\n"
    )
    assert read(text) == Header(
        "WRPS-CTL-001", "3", date(2026, 5, 2), "02/05/2026", "Chlorine dosing control", "Process Engineer"
    )
    assert read(text, column_layout=False).authorising_role is None
    assert read("Title\nRevision\nonly one").title is None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("02/05/2026", date(2026, 5, 2)), ("2.5.2026", date(2026, 5, 2)), ("2-5-26", date(2026, 5, 2)),
        ("2026-05-02", date(2026, 5, 2)), ("2 May 2026", date(2026, 5, 2)), ("May 2, 2026", date(2026, 5, 2)),
        ("2 Mai 2026", date(2026, 5, 2)), ("2. Mai 2026", date(2026, 5, 2)), ("1er mai 2026", None),
        ("2 de mayo de 2026", date(2026, 5, 2)), ("14th Sept. 2026", date(2026, 9, 14)),
        ("99/99/2026", None), ("31/02/2026", None), ("2/5-2026", None), ("soon", None), ("2 Sunday 2026", None),
    ],
)  # fmt: skip
def test_Y24_a_date_is_read_in_any_usual_form_and_only_if_it_exists(text: str, day: date | None) -> None:
    assert parse_date(text) == day


def test_Y24_the_order_of_day_and_month_is_a_setting() -> None:
    assert parse_date("01/02/2026", day_first=False) == date(2026, 1, 2)
    assert read("Effective 01/02/2026", effective_date={"day_first": False}).effective_date == date(
        2026, 1, 2
    )


def test_Y24_all_dates_are_tried_and_the_text_is_kept() -> None:
    found = read("Approved 99/99/2026\nEffective 01/02/2026")
    assert (found.effective_date, found.effective_date_raw) == (date(2026, 2, 1), "01/02/2026")
    found = read("Approved 99/99/2026")
    assert (found.effective_date, found.effective_date_raw) == (None, "99/99/2026")


@pytest.mark.parametrize(
    ("text", "title"),
    [("Title page of contents", None), ("**Title:** Pump", "Pump"), ("| Title | Pump |\n| - | - |", "Pump"),
     ("# Pump manual", "Pump manual"), ("Title: X", "X"), ("# Other\n\nTitle: X", "X")],
)  # fmt: skip
def test_Y25_a_labelled_title_goes_before_the_first_heading(text: str, title: str | None) -> None:
    assert read(text).title == title


def test_Y26_lines_are_read_whole_and_only_those_of_the_first_page() -> None:
    text = f"{' x' * 1990}\nTitle: Chlorine dosing control of the north plant\nAuthorized by: Ann"
    assert read(text).title == "Chlorine dosing control of the north plant"
    assert read(text).authorising_role is None
    assert read("One\nTitle: Two", pages=(Page(0, 4, 1), Page(4, 14, 2))).title is None


def test_Y26_american_spelling_and_labelled_numbers_first() -> None:
    assert read("Authorized by: Ann").authorising_role == "Ann"
    assert read("See WRPS-OPS-001.\nDocument number: WRPS-OPS-002").doc_number == "WRPS-OPS-002"
    assert read("No. 7/88", doc_number={"patterns": [r"\d/\d\d"]}).doc_number == "7/88"


@pytest.mark.parametrize(
    "text", ["title" + " " * 100_000, "#" + " " * 100_000, "Rev" + "." * 100_000, "a:" * 50_000]
)
def test_Y27_long_lines_are_read_once(text: str) -> None:
    assert read(text, window_chars=200_000).revision is None


def test_underscores_inside_words_belong_to_labels_and_values() -> None:
    text = "doc_number: WI_0042_B\neffective_date: 2026-03-01\ntitle: Set max_pool_size\n"
    labels = {name: {"labels": [name]} for name in ("doc_number", "effective_date", "title")}
    labels["doc_number"]["patterns"] = [r"WI_\d+_[A-Z]"]
    assert read(text, **labels) == Header(
        "WI_0042_B", None, date(2026, 3, 1), "2026-03-01", "Set max_pool_size"
    )


def test_marks_of_emphasis_are_no_part_of_labels_and_values() -> None:
    assert read("__Title:__ Starting **pump** _P-101_\n**Revision:** `7`\n") == Header(
        None, "7", None, None, "Starting pump P-101"
    )

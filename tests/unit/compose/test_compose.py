"""What is embedded for a chunk, and what gives way where it does not fit."""

from __future__ import annotations

import pytest

from transforms.chunkers.settings import ChunkSettings
from transforms.chunkers.size import Characters
from transforms.compose import Carried, Parts, breadcrumb, compose, document_title, join, short_title
from transforms.model.document import Document
from transforms.structure.blocks import parse_blocks
from transforms.structure.outline import Section

SETTINGS = ChunkSettings()
PARTS = Parts("Title", "A > B", "one two three four", "text", "| h |\ntext")


def letters(text: str) -> int:
    return len(text)


def document(text: str, title: str | None = None) -> Document:
    return Document(text, parse_blocks(text, "markdown"), "text/markdown", "markdown/1", title=title)


def test_parts_come_in_order_and_the_header_stands_before_the_text() -> None:
    assert join(PARTS, SETTINGS) == "Title\nA > B\none two three four\n| h |\ntext"


def test_empty_parts_leave_no_blank_line() -> None:
    assert join(Parts("", "", "", "text"), SETTINGS) == "text"


def test_a_title_that_the_text_begins_with_is_not_said_twice() -> None:
    assert join(Parts("Title", "", "", "# Title\n\ntext"), SETTINGS) == "# Title\n\ntext"


@pytest.mark.parametrize("heading", ["# [The *title*](a.md)", "[The *title*](a.md)\n===", "# The title #"])
def test_nor_one_that_it_begins_with_in_other_marks(heading: str) -> None:
    assert join(Parts("The title", "", "", f"{heading}\n\ntext"), SETTINGS) == f"{heading}\n\ntext"


def test_nor_is_a_title_with_marks_that_the_first_heading_has_too() -> None:
    parts = Parts("The *title*", "", "", "# The *title*\n\ntext")
    assert join(parts, SETTINGS) == "# The *title*\n\ntext"
    section = Section(0, ("The title", "Part"), 2)
    assert breadcrumb(section, "The *title*", "text", SETTINGS.compose.breadcrumb) == "Part"


def test_a_text_that_is_its_title_is_embedded_all_the_same() -> None:
    assert join(Parts("What voltage?", "", "", "What voltage?", ""), SETTINGS) == "What voltage?"


def test_context_gives_way_first_then_header_then_breadcrumb_then_title_and_never_the_text() -> None:
    sizes = (41, 40, 26, 21, 15, 9, 1)
    found = [compose(PARTS, SETTINGS, letters, size) for size in sizes]
    assert [(text, left.context) for text, left in found] == [
        ("Title\nA > B\none two three four\n| h |\ntext", "one two three four"),
        ("Title\nA > B\nfour\n| h |\ntext", "four"),
        ("Title\nA > B\n| h |\ntext", ""),
        ("Title\nA > B\ntext", ""),
        ("Title\ntext", ""),
        ("text", ""),
        ("text", ""),
    ]


def test_a_title_comes_from_metadata_else_the_first_heading_else_the_file() -> None:
    def title(text: str, own: str | None) -> tuple[str | None, str | None]:
        found = document_title(document(text, own), "docs/a.b.md", SETTINGS)
        return found.text, found.origin

    assert title("# H", " Own ") == ("Own", "metadata")
    assert title("text\n\n## H", " ") == ("H", "heading")
    assert title("text", None) == ("a.b", "file")


def test_a_long_title_is_cut_at_a_word() -> None:
    assert short_title("one two three", 8) == "one two"
    assert short_title("one two three", 7) == "one two"
    assert short_title("onetwothree", 5) == "onetw"
    assert short_title(None, 5) == ""


def test_a_breadcrumb_repeats_neither_the_title_nor_the_first_line() -> None:
    keys = SETTINGS.compose.breadcrumb
    section = Section(0, ("Title", "A", "B"))
    assert breadcrumb(section, "Title", "text", keys) == "A > B"
    assert breadcrumb(section, "Other", "text", keys) == "Title > A > B"
    assert breadcrumb(section, "Title", "### B\n\ntext", keys) == "A"


def test_a_heading_that_is_endless_does_not_stand_in_every_breadcrumb_whole() -> None:
    section = Section(0, ("A", "word " * 1_000))
    keys = SETTINGS.compose.breadcrumb
    assert breadcrumb(section, "Title", "text", keys) == "A > " + ("word " * 24).rstrip()


def test_a_later_part_of_a_table_carries_its_header_row_unless_that_is_longer_than_a_part() -> None:
    table = document("| ab | cd |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |")
    later = table.text.index("| 3")

    def header(target: int, start: int = later) -> str:
        settings = ChunkSettings.model_validate({"size": {"target": target, "max": target}})
        return Carried(table, settings, Characters()).header(start)

    assert header(22) == "| ab | cd |\n|---|---|"
    assert header(21) == ""
    assert header(22, 0) == ""

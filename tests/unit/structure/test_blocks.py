"""What blocks a text has, with their exact spans, and which headings stand above a place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.model.document import canonical_text
from transforms.structure import blocks
from transforms.structure.blocks import parse_blocks
from transforms.structure.commonmark import commonmark_blocks
from transforms.structure.outline import Outline


def kinds(text: str, syntax="markdown") -> list[tuple[str, str]]:
    return [(block.kind.value, text[block.start : block.end]) for block in parse_blocks(text, syntax)]


def headings(text: str) -> list[tuple[int | None, str | None]]:
    return [
        (block.level, block.title) for block in parse_blocks(text, "markdown") if block.kind == "heading"
    ]


def test_a_fence_is_one_block_whatever_is_in_it() -> None:
    text = "before\n````md\n```\n# no heading\n\n```\n````\nafter"
    assert kinds(text) == [
        ("paragraph", "before"),
        ("code", "````md\n```\n# no heading\n\n```\n````"),
        ("paragraph", "after"),
    ]
    assert parse_blocks(text, "markdown")[1].language == "md"


def test_a_fence_that_is_never_closed_runs_to_the_end() -> None:
    assert kinds("~~~ python x\na\n\nb\n") == [("code", "~~~ python x\na\n\nb")]
    assert parse_blocks("~~~ python x\na", "markdown")[0].language == "python"


def test_an_indented_fence_and_indented_code_keep_their_indentation() -> None:
    assert kinds("  ```\n  a\n  ```") == [("code", "  ```\n  a\n  ```")]
    assert kinds("p\n\n    a\n\n    b\n\np") == [
        ("paragraph", "p"), ("code", "    a\n\n    b"), ("paragraph", "p"),
    ]  # fmt: skip


def test_headings_have_their_level_and_their_title_without_marks() -> None:
    assert headings("# One\n\nTwo\n===\n\n### Three ###\n\nFour\n---\n\n## C# and F#\n\n#no\n\n##\n") == [
        (1, "One"), (1, "Two"), (3, "Three"), (2, "Four"), (2, "C# and F#"), (2, ""),
    ]  # fmt: skip


def test_a_setext_heading_may_have_two_lines() -> None:
    assert headings("One\ntwo\n===") == [(1, "One two")]


def test_tables_lists_quotes_and_html_are_one_block_each() -> None:
    text = "| a |\n|---|\n| 1 |\n\n- x\n  - y\n\n  z\n\n1. n\n\n> q\n> r\n\n<div>\n# h\n</div>\n\nend"
    assert kinds(text) == [
        ("table", "| a |\n|---|\n| 1 |"),
        ("list", "- x\n  - y\n\n  z"),
        ("list", "1. n"),
        ("paragraph", "> q\n> r"),
        ("paragraph", "<div>\n# h\n</div>"),
        ("paragraph", "end"),
    ]


def test_link_definitions_and_rules_are_ink_too() -> None:
    assert kinds("[a]: http://b.c\n\n***\n\ntext") == [
        ("paragraph", "[a]: http://b.c"), ("paragraph", "***"), ("paragraph", "text"),
    ]  # fmt: skip


def test_front_matter_is_a_block_and_no_heading() -> None:
    text = "---\ntitle: A\nlist:\n\n  - b\n---\n\n# H"
    assert kinds(text) == [("code", "---\ntitle: A\nlist:\n\n  - b\n---"), ("heading", "# H")]
    assert headings("---\n\ntext\n\n---\n# H") == [(1, "H")]
    assert kinds("+++\na = 1\n\n# note\n+++\n# H") == [
        ("code", "+++\na = 1\n\n# note\n+++"),
        ("heading", "# H"),
    ]
    assert headings("+++\n\ntext\n\n+++\n# H") == [(1, "H")]


def test_plain_text_has_paragraphs_between_blank_lines() -> None:
    assert kinds("# no heading\nb\n \t\n\n  c\n", "plain") == [
        ("paragraph", "# no heading\nb"), ("paragraph", "c"),
    ]  # fmt: skip


@pytest.mark.parametrize("mark", ["- ", "> ", "1. ", "- > "])
def test_a_thousand_levels_of_nesting_raise_nothing(mark) -> None:
    text = mark * 1000 + "deep\n\n# H"
    assert " ".join(ink for _, ink in kinds(text)).split() == text.split()
    stairs = "".join("  " * level + "- a\n" for level in range(1000))
    assert " ".join(ink for _, ink in kinds(stairs)).split() == stairs.split()


def test_the_outline_gives_the_path_above_a_place() -> None:
    text = "pre\n\n# A\n\na\n\n### B\n\nb\n\n## C\n\nc\n\n# D\n"
    outline = Outline(parse_blocks(text, "markdown"))
    assert [(word, outline.at(text.index(word)).path) for word in ("pre", "a\n", "b\n", "c\n", "# D")] == [
        ("pre", ()), ("a\n", ("A",)), ("b\n", ("A", "B")), ("c\n", ("A", "C")), ("# D", ("D",)),
    ]  # fmt: skip
    assert outline.titles_within(text.index("a\n"), len(text)) == ("B", "C", "D")
    assert outline.at(text.index("b\n")).level == 3


MORE_LINES = st.sampled_from(
    ["1. a", "2. b", "10. c", "* e", "+ f", "   cont", "     deep", "| a | b |", "|---|---|", "| 1 | 2 |", "> - x",
     ">", "[a] c: d", "**b** x", "`c` y", "- - -", "* * *", "_ _ _", "-", "1)", "- ", "2. ```", "| a `|` b |",
     "|:--|--:|", "a | b", "- | -", ": | :", "-- | --", "1. | -", "[x", "y]: z", "``` py", "````", "  ```", "    ```",
     "<script>", "</script>", "\\# x", "2026 was", "12345678901", "```a`b", "~~~ a`b", "``` a&amp;b", "<?php",
     "# h #", "#no", "~t"]
)  # fmt: skip
LINES = st.sampled_from(
    ["# a", "b", "", "  ", "- c", "  - d", "    e", "```", "~~~x", "| f |", "|---|", "> g", "---", "===", "[h]: i",
     "<p>", "<!--", "-->", "1) j", "\t", "\tk", "***", "t: u", "...", "\x0c", "l\u2028m", "\u00a0"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.lists(LINES, max_size=14).map("\n".join), st.text(max_size=60)).map(canonical_text),
       st.sampled_from(["markdown", "plain"]))  # fmt: skip
def test_all_ink_lies_in_exactly_one_block(text, syntax) -> None:
    at = 0
    for block in parse_blocks(text, syntax):
        assert not text[at : block.start].strip()
        assert at <= block.start < block.end
        assert text[block.start : block.end].strip()
        at = block.end
    assert not text[at:].strip()


@settings(max_examples=400, deadline=None)
@given(st.lists(st.one_of(LINES, MORE_LINES, st.just("")), max_size=14).map("\n".join).map(canonical_text))
def test_what_is_told_by_its_first_characters_is_what_the_parser_makes_of_the_whole(text) -> None:
    if not text.startswith(("---", "+++")):  # front matter is no part of CommonMark
        assert parse_blocks(text, "markdown") == tuple(commonmark_blocks(text, 0, len(text))[0])


@pytest.mark.parametrize(
    "text",
    [
        "- a\n\nnot in it\n\n```\nx\n```\n",
        "1. a\n2. b\n\nend",
        "> a\n> b\n\nend",
        "| a |\n|---|\n| b |\n\nend",
    ],
)
def test_what_stands_by_itself_needs_no_parser(text, monkeypatch) -> None:
    expected = tuple(commonmark_blocks(text, 0, len(text))[0])
    monkeypatch.setattr(blocks, "commonmark_blocks", None)
    assert parse_blocks(text, "markdown") == expected

"""The words of a heading as a page shows them."""

import pytest

from transforms.model.document import BlockKind
from transforms.structure.blocks import parse_blocks
from transforms.structure.inline import words_shown


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("[1.2.0](https://host/o/r/compare/v1.1...v1.2) (2024-01-01)", "1.2.0 (2024-01-01)"),
        ("[Release](https://host/r 'all') `notes` *now* **and** ***then***", "Release notes now and then"),
        ("A & B &amp; C \\# D \\*e\\*", "A & B & C # D *e*"),
        ("![logo](a.png) Rover", "logo Rover"),
        ("<https://host/a_b>", "https://host/a_b"),
        ("Wheels {#wheels .old}", "Wheels"),
        ("Wheels {: #wheels }", "Wheels"),
        ("<a id='x'></a>Wheels<br>and <em>arms</em> <!-- seen -->", "Wheels and arms"),
        ("`C#` and `F#`", "C# and F#"),
        ("größer *als* ``a`b``", "größer als a`b"),
    ],
)
def test_marks_go_and_what_they_mark_stays(line: str, words: str) -> None:
    assert words_shown(line) == words


@pytest.mark.parametrize(
    "line",
    [
        "__init__ and snake_case and _private_",
        "[0.68.0] - 2026-07-24",
        "Vec<String> and dict[str, int]",
        "Sets {a} and {{ page.title }}",
        "2 * 3 < 7",
        "![](a.png)",
        "*",
    ],
)
def test_what_is_no_mark_or_would_leave_nothing_stays_as_it_is(line: str) -> None:
    assert words_shown(line) == line


def test_headings_of_both_forms_have_their_words_as_titles() -> None:
    text = "# [Rover](r.md) *one* #\n\ntext\n\nThe `arm`\n-----\n\ntext"
    titles = [block.title for block in parse_blocks(text, "markdown") if block.kind is BlockKind.HEADING]
    assert titles == ["Rover one", "The arm"]

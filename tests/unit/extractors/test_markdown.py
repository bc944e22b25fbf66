"""What is read out of Markdown and plain text."""

import pytest

from transforms.extractors.registry import extract
from transforms.extractors.settings import ExtractSettings
from transforms.model.document import BlockKind, Document, JsonValue


def read(text: str, name: str = "a.md") -> Document:
    [document] = extract(text.encode(), name, ExtractSettings()).documents
    return document


def test_front_matter_is_metadata_and_stays_in_the_text() -> None:
    text = "---\ntitle: A  title\ndate: 2024-05-01\ntags: [a, 1]\n---\n# Head\n"
    document = read(text)
    assert document.text == text
    assert document.title == "A title"
    assert document.metadata == {"date": "2024-05-01", "tags": ["a", 1]}
    assert document.blocks[-1].kind is BlockKind.HEADING


def test_front_matter_in_toml_is_metadata_and_no_text_of_a_list() -> None:
    text = '+++\ntitle = "A title"\ndate = 2024-05-01\n[extra]\n\ntags = ["a", 1]\n+++\n# Head\n'
    document = read(text)
    assert document.text == text
    assert document.title == "A title"
    assert document.metadata == {"date": "2024-05-01", "extra": {"tags": ["a", 1]}}
    front, head = document.blocks
    assert (front.kind, front.language) == (BlockKind.CODE, "toml")
    assert head.kind is BlockKind.HEADING


@pytest.mark.parametrize(
    ("text", "metadata"),
    [
        ("+++\na = \n+++\nx\n", {}),
        ("+++\nno field\n+++\nx\n", {}),
        ("+++\na = nan\nb = 07:32:00\n+++\nx\n", {"a": "nan", "b": "07:32:00"}),
        ("---\n- a\n---\nx\n", {}),
        ("---\na: [\n---\nx\n", {}),
        ("---\na: &a [x]\nb: [*a, *a]\n---\nx\n", {}),
        ("---\na: .inf\nb: {1: null}\n---\nx\n", {"a": "inf", "b": {"1": None}}),
        ("text\n---\na: b\n---\n", {}),
        ("---\nd: 2024-02-30\nb: kept\n---\nx\n", {"d": "2024-02-30", "b": "kept"}),
        ("---\nn: " + "9" * 5000 + "\n---\nx\n", {"n": "9" * 5000}),
        ("---\ns: !!set {c, a, b}\nd: !!binary aGk=\n---\nx\n", {"s": ["a", "b", "c"], "d": "aGk="}),
    ],
)
def test_front_matter_that_is_none_or_a_trap_is_text(text: str, metadata: dict[str, JsonValue]) -> None:
    document = read(text)
    assert document.text == text
    assert document.metadata == metadata


def test_no_half_of_a_character_and_no_zero_is_left_in_what_a_file_states() -> None:
    document = read('---\ntitle: "a\\ud800 b"\n"k\\0": "v\\udfff"\n---\nx\n')
    assert document.title == "a\ufffd b"
    assert document.metadata == {"k": "v\ufffd"}


def test_line_ends_marks_and_zeros_are_normalised_once() -> None:
    assert read("\ufeffa\r\nb\rc\0d\n", "a.txt").text == "a\nb\ncd\n"


@pytest.mark.parametrize("name", ["a.md ", "a.md.", "a.MD . ", "b/.a.md"])
def test_what_nobody_sees_behind_an_ending_is_none_of_it(name: str) -> None:
    assert read("# Head\n", name).media_type == "text/markdown"


def test_plain_text_is_not_read_as_markdown() -> None:
    [block] = read("# no heading", "a.txt").blocks
    assert block.kind is BlockKind.PARAGRAPH

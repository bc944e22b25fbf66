"""``recursive``, ``tokens``, ``records`` and ``whole``: what each does to a text that shows it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from transforms.chunkers.chunk import chunk_document
from transforms.chunkers.settings import ChunkSettings
from transforms.embedders.hashed import CharCounter
from transforms.model.chunk import Chunk
from transforms.model.document import Document
from transforms.structure.blocks import parse_blocks


def cut(text: str, strategy: str, target: int, top: int | None = None, **keys) -> list[Chunk]:
    document = Document(text, parse_blocks(text, "markdown"), "text/markdown", "markdown/1", title="T")
    size = {"target": target, "max": top or target, "min_fill": 0, **keys.pop("size", {})}
    chosen = {"strategy": strategy, "size": size, "overlap": {"size": 0}, **keys}
    return chunk_document(document, "a.md", ChunkSettings.model_validate(chosen), CharCounter(), None)


def texts(*given, **more) -> list[str]:
    return [chunk.text for chunk in cut(*given, **more)]


def test_recursive_takes_the_first_separator_that_has_a_place() -> None:
    text = "One.\n\nTwo two two. Three three"
    assert texts(text, "recursive", 22) == ["One.", "Two two two.", "Three three"]
    assert texts(text, "recursive", 22, breaks=["word"]) == ["One.\n\nTwo two two.", "Three three"]


def test_recursive_passes_over_a_separator_that_would_leave_the_chunk_under_filled() -> None:
    text = "One.\n\nTwo two two. Three three"
    assert texts(text, "recursive", 22, size={"min_fill": 0.3}) == ["One.\n\nTwo two two.", "Three three"]


def test_recursive_a_heading_goes_with_what_follows_unless_there_are_only_headings() -> None:
    assert texts("Text.\n\n# H\n\nMore text.", "recursive", 14) == ["Text.", "# H\n\nMore", "text."]
    assert texts("# A\n\n# B\n\n# C\n\n# D", "recursive", 9) == ["# A\n\n# B", "# C\n\n# D"]


def test_recursive_a_literal_separator_ends_the_piece_before_it() -> None:
    assert texts("aa bb. cc dd. ee", "recursive", 10, breaks=[". ", " "]) == ["aa bb.", "cc dd. ee"]
    assert texts("a,b;c,d", "recursive", 4, breaks=[";", ","]) == ["a,b;", "c,d"]
    assert texts("aaa--bbb--ccc", "recursive", 9, breaks=["--"]) == ["aaa--", "bbb--ccc"]


def test_recursive_cuts_between_graphemes_where_no_separator_is_left() -> None:
    assert texts("a" * 50 + "\n\nb", "recursive", 20, breaks=["\n\n"]) == [
        "a" * 20,
        "a" * 20,
        "a" * 10 + "\n\nb",
    ]


@pytest.mark.parametrize("breaks", [[], [""], [1]])
def test_a_list_of_separators_is_checked(breaks) -> None:
    with pytest.raises(ValidationError):
        ChunkSettings.model_validate({"strategy": "recursive", "breaks": breaks})


def test_tokens_are_windows_of_equal_size() -> None:
    assert texts("abcdef ghij klm", "tokens", 4) == ["abcd", "ef g", "hij", "klm"]
    assert texts("abcdefghijklm", "tokens", 2, size={"unit": "tokens"}) == ["abcdefgh", "ijklm"]


def test_tokens_never_part_a_grapheme() -> None:
    assert texts("e\u0301e\u0301e\u0301", "tokens", 3) == ["e\u0301", "e\u0301", "e\u0301"]


def test_whole_is_one_chunk_up_to_the_maximum() -> None:
    text = "One.\n\nTwo two two.\n\nThree."
    assert texts(text, "whole", 8, 40) == [text]
    assert texts(text, "whole", 12, 20) == ["One.", "Two two two.", "Three."]


def test_records_are_the_rows_of_a_table_each_with_its_header_in_what_is_embedded() -> None:
    table = "# Prices\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |"
    chunks = cut(table, "records", 100)
    assert [chunk.text for chunk in chunks] == [
        "# Prices\n\n| a | b |\n|---|---|\n| 1 | 2 |", "| 3 | 4 |",
    ]  # fmt: skip
    assert chunks[1].embed_text == "T\nPrices\n| a | b |\n|---|---|\n| 3 | 4 |"


def test_records_carry_no_overlap() -> None:
    chunks = cut("| a |\n|---|\n| 1 |\n| 2 |\n| 3 |", "records", 100, overlap={"size": 20})
    assert {chunk.context_start for chunk in chunks} == {None}

"""Where the default strategy cuts and what it embeds: one test for each fault that an earlier chunker had."""

from __future__ import annotations

from transforms.chunkers.chunk import chunk_document
from transforms.chunkers.settings import ChunkSettings
from transforms.embedders.hashed import CharCounter
from transforms.model.chunk import Chunk
from transforms.model.document import Document, canonical_text
from transforms.structure.blocks import parse_blocks


def cut(
    text: str,
    size: int,
    *,
    top: int | None = None,
    title=None,
    name="a.md",
    max_tokens=None,
    min_fill=0.3,
    **more,
) -> list[Chunk]:
    text = canonical_text(text)
    given = {
        "size": {"target": size, "max": top or size, "min_fill": min_fill},
        "overlap": {"size": 0},
        **more,
    }
    return chunk_document(
        Document(text, parse_blocks(text, "markdown"), "text/markdown", "markdown/1", title=title),
        name, ChunkSettings.model_validate(given), CharCounter(), max_tokens,
    )  # fmt: skip


def texts(*given, **more) -> list[str]:
    return [chunk.text for chunk in cut(*given, **more)]


def test_R01_a_page_that_fits_one_chunk_is_embedded_with_its_title() -> None:
    assert [chunk.embed_text for chunk in cut("Costs $5.", 100, title="Pricing")] == ["Pricing\nCosts $5."]


def test_R03_an_empty_text_has_no_chunk() -> None:
    assert cut("", 100, name="/a") == cut(" \n", 100, name="/a_2") == []


def test_R06_a_sentence_that_ends_with_the_window_is_cut_there() -> None:
    assert texts("aaaa bbb. cccc dddd", 9) == ["aaaa bbb.", "cccc dddd"]


def test_R07_a_blank_line_across_the_end_of_the_window_is_not_halved() -> None:
    assert texts("aaaaaaaa\n\nbbbbbbbb", 9) == ["aaaaaaaa", "bbbbbbbb"]


def test_R08_windows_line_breaks_are_line_breaks() -> None:
    assert texts("aaaa\r\n\r\nbbbb cccc", 12) == ["aaaa\n\n", "bbbb cccc"]
    assert texts("aaaaaaaaa\r\nb", 10) == ["aaaaaaaaa\n", "b"]


def test_R09_no_chunk_is_blank() -> None:
    assert texts("x" * 50 + "\n", 50, title="T") == ["x" * 50]


def test_R09_indentation_that_leaves_no_room_for_ink_is_in_no_chunk() -> None:
    family = "\N{MAN}\u200d\N{WOMAN}"
    assert texts(f"\t{family}", 2, min_fill=0) == [family]
    assert texts(f"\tab{family}", 2, min_fill=0) == ["\ta", "b", family]


def test_R10_a_last_piece_of_one_character_joins_the_one_before() -> None:
    assert texts("x" * 51, 50, top=60) == ["x" * 51]


def test_R10_the_last_two_are_balanced_where_the_maximum_leaves_no_room() -> None:
    assert texts("x" * 51, 50) == ["x" * 36, "x" * 15]
    assert texts("x" * 51, 50, min_fill=0) == ["x" * 50, "x"]


def test_R11_chunks_are_filled_with_whole_paragraphs() -> None:
    text = "\n\n".join(["p" * 31] * 6)
    assert [len(chunk) for chunk in texts(text, 100)] == [99, 97]


def test_R12_abbreviations_and_list_numbers_end_no_sentence_and_all_stops_do() -> None:
    assert texts("Ask Dr. Lee! Then go home", 14) == ["Ask Dr. Lee! ", "Then go home"]
    assert texts('He said "Go." Then he left', 14) == ['He said "Go." ', "Then he left"]
    assert texts("Do 1. open 2. shut it", 15) == ["Do 1. open ", "2. shut it"]


def test_R13_full_width_stops_end_sentences() -> None:
    assert texts("料金は三つです。解約できます。返金します。", 10) == [
        "料金は三つです。",
        "解約できます。",
        "返金します。",
    ]


def test_R14_any_white_space_parts_words_but_no_break_spaces_only_at_need() -> None:
    assert texts("aaaa\tbbbb\tcccc", 6) == ["aaaa\t", "bbbb\t", "cccc"]
    assert texts("aaaa\u3000bbbb\u3000cccc", 6) == ["aaaa\u3000", "bbbb\u3000", "cccc"]
    assert texts("10\u00a0km 20\u00a0km", 9) == ["10\u00a0km ", "20\u00a0km"]
    assert texts("aaaa\u00a0bbbb", 6) == ["aaaa\u00a0", "bbbb"]


def test_R15_no_grapheme_is_cut() -> None:
    family = "👨\u200d👩\u200d👧\u200d👦"
    assert texts(family * 2, 10) == [family, family]
    assert texts("e\u0301e\u0301", 3) == ["e\u0301", "e\u0301"]


def test_R15_a_grapheme_over_the_maximum_goes_whole_and_says_so() -> None:
    family = "👨\u200d👩\u200d👧\u200d👦"
    chunks = cut(f"a {family} b", 3)
    assert [chunk.text for chunk in chunks] == ["a ", family, " b"]
    assert [chunk.warnings for chunk in chunks] == [(), ("oversize_grapheme",), ()]


def test_R15_marks_without_end_are_no_grapheme_that_passes_the_bound() -> None:
    chunks = cut("e" + "\u0301" * 1000, 100, max_tokens=50)
    assert max(len(chunk.text) for chunk in chunks) <= 100
    assert max(chunk.embed_tokens for chunk in chunks) <= 50


def test_R16_a_heading_stays_with_what_follows() -> None:
    assert texts("intro text here\n\n## Prices\n\nThe plan costs five.", 32) == [
        "intro text here\n\n",
        "## Prices\n\nThe plan costs five.",
    ]


def test_R16_a_heading_stays_with_the_first_sentence_of_a_paragraph_that_must_be_cut() -> None:
    text = (
        "An intro with some text.\n\n## Prices\n\nIt costs five. It has been so for ever. Nobody knows why."
    )
    assert texts(text, 40) == [
        "An intro with some text.\n\n",
        "## Prices\n\nIt costs five. ",
        "It has been so for ever. ",
        "Nobody knows why.",
    ]


def test_R16_a_heading_stays_with_the_first_word_where_even_the_sentence_is_too_long() -> None:
    assert texts("intro text here\n\n## Prices\n\nThe plan costs five.", 30) == [
        "intro text here\n\n",
        "## Prices\n\nThe plan ",
        "costs five.",
    ]


def test_R17_later_parts_of_a_table_carry_its_header_row_in_the_embedded_text_only() -> None:
    chunks = cut("| a | b |\n| - | - |\n| 1 | 2 |\n| 3 | 4 |", 25, title="T")
    assert [chunk.text for chunk in chunks] == ["| a | b |\n| - | - |\n", "| 1 | 2 |\n| 3 | 4 |"]
    assert chunks[0].embed_text == "T\n| a | b |\n| - | - |\n"
    assert chunks[1].embed_text == "T\n| a | b |\n| - | - |\n| 1 | 2 |\n| 3 | 4 |"


def test_R17_later_parts_of_code_carry_the_language() -> None:
    chunks = cut("```python\nfirst = 1\nsecond = 2\n```", 20, title="T")
    assert [chunk.text for chunk in chunks] == ["```python\nfirst = 1\n", "second = 2\n```"]
    assert chunks[1].embed_text == "T\n```python\nsecond = 2\n```"


def test_R17_a_header_row_too_long_for_the_model_is_left_out() -> None:
    head = "| " + "a" * 40 + " | b |\n| - | - |\n"
    chunks = cut(head + "| 1 | 2 |\n" * 10, 60, title="T", max_tokens=17)
    assert {chunk.warnings for chunk in chunks[1:]} == {("budget_cut",)}
    assert all(chunk.embed_text.startswith("T\n| 1 | 2 |") for chunk in chunks[1:])


def test_R18_context_begins_at_a_word() -> None:
    chunks = cut("alpha beta gamma delta", 12, overlap={"size": 4}, title="T")
    assert [chunk.embed_text for chunk in chunks] == ["T\nalpha beta ", "T\nbeta\ngamma delta"]
    assert (chunks[1].context_start, chunks[1].context_end) == (6, 10)


def test_R18_context_begins_at_a_sentence_where_asked() -> None:
    chunks = cut(
        "One two three. Four. Five six seven eight.", 22, overlap={"size": 8, "snap": "sentence"}, title="T"
    )
    assert [chunk.embed_text for chunk in chunks] == [
        "T\nOne two three. Four. ",
        "T\nFour.\nFive six seven eight.",
    ]


def test_R18_context_reaches_past_a_short_chunk() -> None:
    text = "One two three four. No. " + "x" * 20
    chunks = cut(text, 20, overlap={"size": 9}, title="T", min_fill=0)
    assert [chunk.embed_text for chunk in chunks] == [
        "T\nOne two three four. ",
        "T\nfour.\nNo. ",
        "T\nfour. No.\n" + "x" * 20,
    ]


def test_R19_context_gives_way_so_that_the_embedded_text_fits_the_model() -> None:
    chunks = cut("word " * 100, 200, overlap={"size": 99}, title="t" * 120, max_tokens=60)
    assert all(chunk.embed_tokens <= 60 for chunk in chunks)
    assert "budget_cut" in chunks[1].warnings


def test_R20_a_long_title_is_cut_at_a_word_and_only_in_the_embedded_text() -> None:
    title = "Some very long title " * 7
    chunk = cut("text", 100, title=title)[0]
    assert chunk.embed_text.split("\n") == ["Some very long title " * 5 + "Some very long", "text"]


def test_R21_without_a_title_the_first_heading_names_the_chunks_else_the_file() -> None:
    banner = "Accept all cookies\n\n" + "text " * 10
    assert [chunk.embed_text.split("\n")[0] for chunk in cut(banner, 30, name="shop/prices.md")] == [
        "prices"
    ] * 3
    assert cut("# Prices\n\nFive.", 30)[0].embed_text == "# Prices\n\nFive."


def test_an_indentation_stays_with_its_first_line() -> None:
    assert texts("    code = 1\n    more = 2", 13) == ["    code = 1\n", "    more = 2"]

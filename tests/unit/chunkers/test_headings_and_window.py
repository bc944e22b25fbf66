"""``headings`` and ``window``: the faults of the system they come from, by id, and what is wanted instead."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from transforms.chunkers.chunk import chunk_document
from transforms.chunkers.settings import ChunkSettings
from transforms.embedders.hashed import CharCounter
from transforms.model.chunk import Chunk
from transforms.model.document import Document
from transforms.structure.blocks import parse_blocks


def cut(text: str, strategy: str = "headings", title: str | None = None, **keys: object) -> list[Chunk]:
    document = Document(text, parse_blocks(text, "markdown"), "text/markdown", "test/1", title=title)
    chosen = ChunkSettings.model_validate({"strategy": strategy, **keys})
    return chunk_document(document, "note.md", chosen, CharCounter(), None)


def texts(chunks: list[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks]


def sentences(count: int, words: int = 6) -> str:
    return " ".join(f"Sentence {n} " + "word " * words + "ends." for n in range(count))


def size(target: int, most: int, **more: object) -> dict[str, object]:
    return {"target": target, "max": most, **more}


def test_M01_overlap_stands_in_reading_order_behind_the_headings() -> None:
    text = "## H\n\nAlpha alpha alpha. Bravo bravo bravo. Charlie charlie charlie. Delta delta delta."
    chunks = cut(text, size=size(64, 70, min_fill=0), overlap={"size": 24, "snap": "sentence"}, title="Doc")
    assert texts(chunks) == [
        "## H\n\nAlpha alpha alpha. Bravo bravo bravo.",
        "Charlie charlie charlie. Delta delta delta.",
    ]
    assert chunks[1].embed_text.splitlines() == [
        "Doc", "H", "Bravo bravo bravo.", "Charlie charlie charlie. Delta delta delta.",
    ]  # fmt: skip


def test_M02_overlap_is_the_source_just_before_a_chunk_and_chunks_advance() -> None:
    text = sentences(60)
    chunks = cut(text, size=size(250, 300), overlap={"size": 100, "snap": "sentence"})
    assert len(text) < sum(len(chunk.text) for chunk in chunks) + 2 * len(chunks)
    assert len(chunks) <= len(text) / (0.5 * 250)
    for before, chunk in pairwise(chunks):
        assert chunk.context_end == before.cut.end
        assert chunk.context_start is not None
        assert before.cut.end - chunk.context_start <= 100


@pytest.mark.parametrize("strategy", ["headings", "window"])
def test_M03_M04_M05_M13_M15_no_chunk_is_over_the_maximum(strategy: str) -> None:
    for text in (
        " ".join(["Fourteen chars"] * 60).replace("chars ", "chars. "),
        "## H\n\n" + "x" * 2_000,
        "y" * 5_000,
        "\n\n".join(["Block 00000000"] * 150),
        "| a | b |\n| - | - |\n" + "| one | two |\n" * 80,
    ):
        chunks = cut(text, strategy, size=size(100, 100), overlap={"size": 30})
        assert max(len(chunk.text) for chunk in chunks) <= 100
        assert "".join("".join(texts(chunks)).split()) == "".join(text.split())


def test_M04_the_model_s_input_holds_title_heading_overlap_and_text() -> None:
    text = "## " + "Heading " * 8 + "\n\n" + sentences(12)
    document = Document(text, parse_blocks(text, "markdown"), "text/markdown", "test/1", title="Title")
    chosen = ChunkSettings.model_validate(
        {"strategy": "headings", "size": size(160, 200), "overlap": {"size": 60}}
    )
    chunks = chunk_document(document, "n", chosen, CharCounter(), 50)
    assert len(chunks) > 3
    assert all(chunk.embed_tokens <= 50 for chunk in chunks)


def test_M06_a_heading_goes_with_the_text_that_follows() -> None:
    text = "# Book\n\n## Big\n\n" + sentences(10)
    assert texts(cut(text, size=size(100, 150)))[0].startswith("# Book\n\n## Big\n\nSentence 0")


def test_M07_every_heading_of_the_split_level_or_above_begins_a_chunk_if_strict() -> None:
    text = "## A\n\nText a.\n\n# Two\n\nText.\n\n## B\n\nText b."
    assert texts(cut(text, headings={"strict": True, "split_level": 2})) == [
        "## A\n\nText a.", "# Two\n\nText.", "## B\n\nText b.",
    ]  # fmt: skip
    bare = "## A\n\nText a.\n\n# Two\n\n## B\n\nText b."
    assert texts(cut(bare, headings={"strict": True})) == ["## A\n\nText a.", "# Two\n\n## B\n\nText b."]


SPLIT = "## H\n\n- one thing\n- two things\n\n### Sub\n\nSome text here.\n\nMore text follows here now."


def test_M08_a_section_that_is_cut_stays_verbatim() -> None:
    assert texts(cut(SPLIT, size=size(45, 50))) == [
        "## H\n\n- one thing\n- two things",
        "### Sub\n\nSome text here.",
        "More text follows here now.",
    ]


def test_M09_a_chunk_is_filed_under_the_heading_at_its_start() -> None:
    chunks = cut(SPLIT, size=size(45, 50), title="Doc")
    assert [chunk.section_path for chunk in chunks] == [("H",), ("H", "Sub"), ("H", "Sub")]


def test_M10_a_chunk_of_several_sections_is_filed_under_what_they_share() -> None:
    (chunk,) = cut("# Top\n\nX.\n\n## A\n\nText a.\n\n## B\n\nText b.", title="Doc")
    assert (chunk.section_path, chunk.section_titles) == (("Top",), ("Top", "A", "B"))
    (chunk,) = cut("## A\n\nText a.\n\n## B\n\nText b.", title="Doc")
    assert (chunk.section_title, chunk.section_titles) == (None, ("A", "B"))
    assert chunk.embed_text == "Doc\n## A\n\nText a.\n\n## B\n\nText b."


def test_M11_the_breadcrumb_has_all_levels() -> None:
    text = "# Doc\n\nIntro.\n\n## A\n\nText a.\n\n### Deep\n\n" + sentences(3)
    chunks = cut(
        text, headings={"split_level": 3, "strict": True}, size=size(60, 100, merge_runts=False), title="T"
    )
    assert chunks[-1].breadcrumb == "Doc > A > Deep"


def test_M12_the_stored_text_stands_unchanged_in_the_embedded_text() -> None:
    for title in ("P", " ", None):
        (chunk,) = cut("    x = 1\n", "window", title=title)
        assert chunk.text == "    x = 1"
        assert chunk.embed_text.endswith("\n    x = 1")


def test_M14_the_window_aims_at_its_target_and_slides() -> None:
    text = "\n\n".join(f"Block {n:08}" for n in range(20))
    assert [len(texts(cut(text, "window", size=size(target, 600)))) for target in (50, 200)] == [7, 2]
    with_overlap = cut(text, "window", size=size(100, 600), overlap={"size": 14})
    assert with_overlap[1].embed_text.splitlines()[1] == with_overlap[0].text[-14:]


def test_M14_a_block_between_target_and_maximum_stays_whole() -> None:
    block = sentences(4)
    assert texts(cut(f"One.\n\n{block}\n\nTwo.", "window", size=size(80, 300, min_fill=0))) == [
        "One.", block, "Two.",
    ]  # fmt: skip


def test_M16_no_window_ends_in_a_heading() -> None:
    text = "\n\n".join(f"## Item {n}\n\nShort note number {n}." for n in range(30))
    windows = texts(cut(text, "window", size=size(80, 90)))
    assert not any(window.splitlines()[-1].startswith("#") for window in windows)
    assert "\n\n".join(windows) == text


def test_M20_settings_of_the_wrong_kind_are_refused() -> None:
    for keys in (
        {"overlap": {"size": [10, 20, 30]}},
        {"headings": {"strict": "perhaps"}},
        {"size": {"target": 100, "max": 10}},
        {"headings": {"split_level": None}},
    ):
        with pytest.raises(ValidationError):
            ChunkSettings.model_validate({"strategy": "headings", **keys})
    assert ChunkSettings.model_validate({"headings": {"strict": "false"}}).headings.strict is False


def test_M21_many_small_sections_fill_a_chunk() -> None:
    text = "\n\n".join(f"## S{n:02}\n\nText." for n in range(60))
    chunks = cut(text, size=size(200, 200))
    assert all(180 <= len(chunk.text) <= 200 for chunk in chunks[:-1])
    assert "\n\n".join(texts(chunks)) == text


def test_M22_the_small_end_of_a_cut_section_joins_what_follows() -> None:
    text = "## Long\n\n" + sentences(5) + " Tiny.\n\n## Next\n\nThe next section is short."
    chunks = texts(cut(text, size=size(93, 93)))
    assert min(map(len, chunks)) >= int(0.3 * 93)
    assert "Tiny." not in chunks


def test_M23_M24_a_heading_is_a_block_and_never_compared_as_text() -> None:
    text = "## H\n\nErster Satz steht hier.\n\n```make\n## H\nrule:\n```\n\nZweiter Satz steht hier."
    chunks = cut(text, size=size(40, 45, min_fill=0), overlap={"size": 15})
    assert texts(chunks) == [
        "## H\n\nErster Satz steht hier.", "```make\n## H\nrule:\n```", "Zweiter Satz steht hier.",
    ]  # fmt: skip
    assert [chunk.section_titles for chunk in chunks] == [("H",), (), ()]


def test_M25_a_long_heading_neither_suppresses_the_overlap_nor_makes_more_chunks() -> None:
    short, long = (
        cut(f"## {'H' * letters}\n\n{sentences(12)}", size=size(250, 300), overlap={"size": 60})
        for letters in (2, 227)
    )
    assert len(long) <= len(short) + 1
    assert all(chunk.context_start is not None for chunk in long[-3:])


def test_M27_a_preface_does_not_take_the_title_from_the_section_behind_it() -> None:
    (small,) = cut("A preface.\n\n# First\n\nText one.")
    assert small.section_path == ("First",)
    preface, *_, first = cut(f"{sentences(3)}\n\n# First\n\n{sentences(3)}", size=size(100, 140))
    assert (preface.section_title, first.section_title) == (None, "First")


PIECES = st.sampled_from(
    ["# One\n\n", "## Two\n\n", "### Three\n\n", "A sentence. ", "word ", "\n\n", "- item\n", "x" * 30, "| a |\n|--|\n"]
)  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(
    st.lists(PIECES, max_size=40).map("".join),
    st.sampled_from(["headings", "window"]),
    st.integers(1, 60),
    st.integers(0, 60),
    st.booleans(),
)
def test_every_text_is_cut_into_lawful_chunks(
    text: str, strategy: str, target: int, more: int, strict: bool
) -> None:
    chunks = cut(text, strategy, size=size(target, target + more), headings={"strict": strict})
    ends = [0, *(chunk.cut.end for chunk in chunks)]
    assert all(before <= chunk.cut.start for before, chunk in zip(ends, chunks, strict=False))
    assert all(chunk.text.strip() and len(chunk.text) <= target + more for chunk in chunks)
    assert "".join("".join(texts(chunks)).split()) == "".join(text.split())

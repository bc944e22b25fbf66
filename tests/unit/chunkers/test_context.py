"""What of the neighbouring text is embedded with a chunk."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from transforms.chunkers.chunk import chunk_document
from transforms.chunkers.settings import ChunkSettings
from transforms.embedders.hashed import CharCounter
from transforms.model.document import BlockKind, Document, canonical_text
from transforms.structure.blocks import parse_blocks

WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa"
SMALL = {"target": 24, "max": 24, "min_fill": 0, "merge_runts": False}


def document(text: str) -> Document:
    return Document(text, parse_blocks(text, "markdown"), "text/markdown", "markdown/1", title="T")


def cut(text: str, max_tokens: int | None = None, **keys):
    chosen = ChunkSettings.model_validate({"size": SMALL, "compose": {"parts": PARTS}} | keys)
    return chunk_document(document(text), "a", chosen, CharCounter(), max_tokens)


PARTS = ["context", "text", "context_after"]


def embedded(text: str, max_tokens: int | None = None, **keys) -> list[str]:
    return [chunk.embed_text for chunk in cut(text, max_tokens, **keys)]


def test_the_text_behind_a_chunk_is_embedded_with_it_and_stored_with_the_next_one_alone() -> None:
    chunks = cut(WORDS, overlap={"size": 0, "after": 11})
    assert [(chunk.text, chunk.embed_text) for chunk in chunks] == [
        ("alpha beta gamma delta ", "alpha beta gamma delta \nepsilon"),
        ("epsilon zeta eta theta ", "epsilon zeta eta theta \niota kappa"),
        ("iota kappa", "iota kappa"),
    ]
    assert [(chunk.context_after_start, chunk.context_after_end) for chunk in chunks] == [
        (23, 30), (46, 56), (None, None),
    ]  # fmt: skip


def test_nothing_behind_a_chunk_is_embedded_unless_it_is_asked_for() -> None:
    assert embedded(WORDS, overlap={"size": 0}) == [chunk.text for chunk in cut(WORDS)]


def test_a_title_of_parts_without_the_text_behind_leaves_it_out() -> None:
    keys = {"overlap": {"size": 0, "after": 11}, "compose": {"parts": ["text"]}}
    assert embedded(WORDS, **keys)[0] == "alpha beta gamma delta "


def test_the_text_behind_ends_at_the_next_heading_unless_headings_are_crossed() -> None:
    text = "one two three four five six\n\nseven\n\n# Next\n\neight nine"
    keys = {"size": {"target": 30, "max": 30, "min_fill": 0, "merge_runts": False}}
    assert embedded(text, overlap={"size": 0, "after": 14}, **keys)[0].split("\n")[-1] == "seven"
    across = embedded(text, overlap={"size": 0, "after": 14, "across_headings": True}, **keys)[0]
    assert across.endswith("seven\n\n# Next")


@pytest.mark.parametrize(
    ("snap", "after"), [("none", "New one. Secon"), ("word", "New one."), ("sentence", "New one.")]
)
def test_the_text_behind_ends_with_a_sentence_or_word(snap: str, after: str) -> None:
    text = "First words that stand.\n\nNew one. Second here, long"
    keys = {"size": {"target": 30, "max": 30, "min_fill": 0, "merge_runts": False}}
    assert embedded(text, overlap={"size": 0, "after": 14, "snap": snap}, **keys)[0].endswith(after)


def test_a_grapheme_behind_a_chunk_is_whole_or_not_there() -> None:
    text = "first words here.\n\n👨‍👩‍👧‍👦👨‍👩‍👧‍👦 more of it"
    for after in range(1, 11):
        found = embedded(text, overlap={"size": 0, "after": after, "snap": "none"})[0].split("\n")[-1]
        assert found == ("" if after < 7 else "👨‍👩‍👧‍👦")


def test_records_have_no_neighbours() -> None:
    rows = "| a |\n|---|\n| 1 |\n| 2 |\n| 3 |"
    chunks = cut(rows, strategy="records", overlap={"size": 0, "after": 10})
    assert {chunk.context_after_start for chunk in chunks} == {None}


def test_what_stands_behind_gives_way_before_what_stands_before() -> None:
    keys = {"overlap": {"size": 11, "after": 11}}
    whole = "gamma delta\nepsilon zeta eta theta \niota kappa"
    sizes = (12, 11, 10, 9, 8)
    assert [embedded(WORDS, size, **keys)[1] for size in sizes] == [
        whole,
        "gamma delta\nepsilon zeta eta theta \niota",
        "gamma delta\nepsilon zeta eta theta \niota",
        "gamma delta\nepsilon zeta eta theta ",
        "epsilon zeta eta theta ",
    ]
    shortened = cut(WORDS, sizes[1], **keys)[1]
    assert (shortened.context_after_start, shortened.context_after_end) == (46, 50)
    assert "budget_cut" in shortened.warnings


def test_context_is_under_half_of_a_chunk() -> None:
    with pytest.raises(ValidationError, match=r"overlap.after 12 must be under half of size.target 24"):
        ChunkSettings.model_validate({"size": SMALL, "overlap": {"size": 0, "after": 12}})


PIECES = st.sampled_from(
    ["# One\n", "\n\n", "## Two\n\n", "- item\n", "```py\nx = 1\n```\n", "| a | b |\n|---|---|\n| 1 | 2 |\n",
     "A sentence. ", "Dr. Lee! ", "word ", "\u00a0", "longwordwithoutaspace", "料金は三つです。", "👨‍👩‍👧‍👦", "e\u0301",
     " \n", "Title\n===\n"]
)  # fmt: skip


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(PIECES, max_size=30).map("".join).map(canonical_text),
    st.sampled_from(["verbatim", "sections", "headings", "window", "recursive"]),
    st.integers(6, 40),
    st.integers(1, 19),
    st.sampled_from(["none", "word", "sentence"]),
    st.one_of(st.none(), st.integers(1, 60)),
)
def test_neighbours_change_what_is_embedded_alone_and_stay_under_their_heading(
    text: str, strategy: str, target: int, after: int, snap: str, max_tokens: int | None
) -> None:
    size = {"target": target, "max": target + 10}
    after = min(after, (target - 1) // 2)
    without, found = (
        cut(text, max_tokens, strategy=strategy, size=size, overlap={"size": 0, "after": n, "snap": snap})
        for n in (0, after)
    )
    plain = [chunk._replace(warnings=()) for chunk in without]
    assert plain == [
        chunk._replace(embed_text=old.embed_text, embed_tokens=old.embed_tokens, warnings=(),
                       context_after_start=None, context_after_end=None)
        for chunk, old in zip(found, without, strict=True)
    ]  # fmt: skip
    headings = [block.start for block in document(text).blocks if block.kind is BlockKind.HEADING]
    for old, chunk in zip(without, found, strict=True):
        start, end = chunk.context_after_start, chunk.context_after_end
        if start is None:
            assert chunk.embed_text == old.embed_text
            continue
        ink = chunk.cut.start + len(chunk.text.rstrip())
        assert ink <= start < end <= start + after
        assert not text[ink:start].strip()
        assert not any(ink <= heading < end for heading in headings)
        assert chunk.embed_text.endswith("\n" + text[start:end])
        assert text[start:end] == text[start:end].strip()
        assert max_tokens is None or chunk.embed_tokens <= max_tokens

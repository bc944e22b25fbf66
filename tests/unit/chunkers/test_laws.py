"""What holds for the chunks of every text, however it is written and whatever the sizes."""

from __future__ import annotations

import sys
import tracemalloc
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import pytest
import regex
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from transforms.chunkers.chunk import chunk_document
from transforms.chunkers.guard import OVERSIZE_GRAPHEME
from transforms.chunkers.registry import STRATEGIES
from transforms.chunkers.settings import ChunkSettings
from transforms.embedders.hashed import CharCounter, HashEmbedder
from transforms.embedders.registry import make_embedder
from transforms.embedders.settings import StaticSettings
from transforms.model.document import Document, canonical_text
from transforms.structure.blocks import parse_blocks

PIECES = st.sampled_from(
    ["# One\n", "\n\n", "## Two\n\n", "- item\n", "  1. deep\n", "```py\nx = 1\n```\n", "| a | b |\n|---|---|\n",
     "| 1 | 2 |\n", "A sentence. ", "Dr. Lee! ", "word ", "\t", "\u00a0", "longwordwithoutaspace", "料金は三つです。",
     "👨‍👩‍👧‍👦", "e\u0301", "\u0301", " \n", "> quote\n", "Title\n===\n", "[a]: b\n", "<b>\n", "---\n", "\u3000",
     "\x1c"]
)  # fmt: skip
TEXTS = st.one_of(st.lists(PIECES, max_size=30).map("".join), st.text(max_size=120)).map(canonical_text)
SIZES = st.builds(
    lambda unit, target, slack, fill, merge: {
        "unit": unit, "target": target, "max": target + slack, "min_fill": fill, "merge_runts": merge,
    },
    st.sampled_from(["chars", "tokens"]), st.integers(1, 40), st.integers(0, 20),
    st.sampled_from([0, 0.3, 0.9]), st.booleans(),
)  # fmt: skip
LAW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@lru_cache
def counters() -> dict:
    return {"hash": CharCounter(), "static": make_embedder(StaticSettings()).counter}


def document(text: str, syntax="markdown") -> Document:
    return Document(text, parse_blocks(text, syntax), "text/markdown", "markdown/1")


@pytest.mark.parametrize("strategy", STRATEGIES)
@LAW
@given(TEXTS, st.sampled_from(["markdown", "plain"]), SIZES, st.sampled_from(["hash", "static"]),
       st.one_of(st.none(), st.integers(1, 30)), st.sampled_from(["none", "word", "sentence"]),
       st.booleans())  # fmt: skip
def test_every_text_is_cut_lawfully(
    strategy, text, syntax, size, counter_name, max_tokens, snap, across
) -> None:
    counter = counters()[counter_name]
    chosen = ChunkSettings.model_validate(
        {"strategy": strategy, "size": size, "overlap": {"snap": snap, "across_headings": across}}
    )
    embed = HashEmbedder(16).embed
    chunks = chunk_document(document(text, syntax), "notes/a.md", chosen, counter, max_tokens, embed)
    at = 0
    for chunk in chunks:
        start, end = chunk.cut.start, chunk.cut.end
        assert chunk.text == text[start:end]
        assert chunk.text.strip()
        assert at <= start < end
        assert not text[at:start].strip()
        at = end
        length = len(chunk.text) if size["unit"] == "chars" else counter.count([chunk.text])[0]
        over = length > size["max"] or (
            max_tokens is not None and counter.count([chunk.embed_text])[0] > max_tokens
        )
        assert over == (OVERSIZE_GRAPHEME in chunk.warnings)
        if over:
            assert regex.fullmatch(r"\X", chunk.text.strip())
        if chunk.context_start is not None:
            assert 0 <= chunk.context_start < chunk.context_end <= start
    assert not text[at:].strip()
    assert chunks == chunk_document(
        document(text, syntax), "notes/a.md", chosen, counter, max_tokens, embed
    )


@LAW
@given(TEXTS, SIZES)
def test_joined_slices_of_verbatim_are_the_document_but_for_white_space_that_no_slice_has_room_for(
    text, size
) -> None:
    size = {**size, "unit": "chars"}
    chosen = ChunkSettings.model_validate({"strategy": "verbatim", "size": size})
    spans = [
        (chunk.cut.start, chunk.cut.end)
        for chunk in chunk_document(document(text), "a", chosen, CharCounter(), None)
    ]
    joined = ""
    for (first, end), (start, last) in pairwise([(0, 0), *spans, (len(text), len(text))]):
        gap = text[end:start]
        joined += text[first:end] + gap
        assert not gap.strip()
        assert not gap or start - first > size["max"] or first == end
        assert not gap or last - end > size["max"] or last == start
    assert joined == text


def test_joined_slices_of_a_real_text_are_the_text() -> None:
    text = (Path(__file__).parents[3] / "docs" / "chunking.md").read_text(encoding="utf-8")
    for target, top in ((1000, 1500), (300, 300), (80, 90)):
        chosen = ChunkSettings.model_validate({"size": {"target": target, "max": top}})
        chunks = chunk_document(document(text), "a", chosen, CharCounter(), None)
        assert "".join(chunk.text for chunk in chunks) == text
        assert max(len(chunk.text) for chunk in chunks) <= top


class Counting:
    """Counts how many characters it is asked to look at."""

    name = "counting"

    def __init__(self) -> None:
        self.seen = 0

    def count(self, texts):
        self.seen += sum(map(len, texts))
        return CharCounter().count(texts)

    def offsets(self, text):
        self.seen += len(text)
        return CharCounter().offsets(text)


LARGE = {
    "a megabyte without a space": "x" * 1_000_000,
    "two hundred thousand full stops": "." * 200_000,
    "ten thousand headings": "## Heading\n\n" * 10_000,
    "ten thousand blank lines": "a" + "\n" * 10_000 + "b",
    "ten thousand blank lines with spaces": "a" + " \n" * 10_000 + "b",
    "one long line of Chinese": "料" * 100_000,
    "one long line of Chinese sentences": "料金は三つです。" * 12_500,
    "ten thousand table rows": "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 10_000,
    "ten thousand numbers on a line": "1. " * 10_000,
    "ten thousand list items": "- item\n" * 10_000,
    "a hundred thousand spaces": "a" + " " * 100_000 + "b",
    "ten thousand quote marks": ".\"'" * 10_000,
    "a hundred thousand combining marks": "e" + "\u0301" * 100_000,
    "ten thousand short lines": "a line of text\n" * 10_000,
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_work_grows_with_the_length_of_the_text_and_no_faster(name, strategy) -> None:
    text, counter = LARGE[name], Counting()
    unit = "tokens" if len(name) % 2 else "chars"
    chosen = ChunkSettings.model_validate(
        {"strategy": strategy, "size": {"unit": unit, "target": 300, "max": 400}}
    )
    chunks = chunk_document(document(text), "a", chosen, counter, 512, HashEmbedder(16).embed)
    # Once for the offsets, once or twice for each text with what it carries: never once a chunk.
    assert counter.seen <= 12 * len(text)
    assert "".join("".join(chunk.text.split()) for chunk in chunks) == "".join(text.split())


HOSTILE = {
    "a line without a space": lambda n: "x" * 40 * n,
    "headings": lambda n: "## Heading\n\n" * n,
    "blank lines": lambda n: "a" + "\n" * n + "b",
    "a line of Chinese": lambda n: "料金は三つ" * n,
    "nested lists": lambda n: "".join("  " * (level % 60) + "- a\n" for level in range(n // 3)),
    "table rows": lambda n: "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * n,
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_steps_and_memory_grow_as_the_text_does(name, strategy) -> None:
    """The benchmark cuts the same texts at full length; here, twice the text is twice the work."""
    unit = "tokens" if (len(name) + len(strategy)) % 2 else "chars"
    chosen = ChunkSettings.model_validate(
        {"strategy": strategy, "size": {"unit": unit, "target": 200, "max": 300}}
    )

    def run(text: str) -> int:
        """How many functions are called, in Python and in C."""
        calls = 0

        def seen(_frame, event, _arg) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        sys.setprofile(seen)
        try:
            chunk_document(document(text), "a", chosen, CharCounter(), 512, HashEmbedder(4).embed)
        finally:
            sys.setprofile(None)
        return calls

    def peak(text: str) -> int:
        tracemalloc.start()
        try:
            chunk_document(document(text), "a", chosen, CharCounter(), 512, HashEmbedder(4).embed)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    once, twice = HOSTILE[name](600), HOSTILE[name](1200)
    run(once)
    calls, more_calls = run(once), run(twice)
    memory, more_memory = peak(once), peak(twice)
    # Four times as much if each part looked at all others.
    assert more_calls <= 2.5 * calls + 200
    assert more_memory <= 2.5 * memory + 100_000


@pytest.mark.parametrize("unit", ["chars", "tokens"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_is_embedded_of_a_wide_table_grows_as_the_table_does(strategy, unit) -> None:
    """A table twice as wide has a header twice as long, and twice as many parts to carry it."""

    def embedded(columns: int) -> int:
        def row(cell: str) -> str:
            return "|" + f" {cell} |" * columns + "\n"

        text = row("column") + row("---") + row("12.5") * 20
        chosen = ChunkSettings.model_validate(
            {"strategy": strategy, "size": {"unit": unit, "target": 200, "max": 300}}
        )
        chunks = chunk_document(document(text), "a", chosen, CharCounter(), None, HashEmbedder(4).embed)
        return sum(len(chunk.embed_text) for chunk in chunks)

    assert embedded(1200) <= 2.5 * embedded(600)

"""What users of other tools reported of their chunkers, each with the least input that shows it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from transforms.chunkers.chunk import chunk_document
from transforms.chunkers.settings import ChunkSettings
from transforms.embedders.hashed import CharCounter
from transforms.model.chunk import Chunk
from transforms.model.document import BlockKind, Document
from transforms.structure.blocks import parse_blocks

STRATEGIES = (
    "verbatim",
    "sections",
    "headings",
    "window",
    "recursive",
    "tokens",
    "whole",
    "code",
    "records",
)


def cut(text: str, strategy: str, target: int, most: int, overlap: int = 0, **keys: object) -> list[Chunk]:
    document = Document(text, parse_blocks(text, "markdown"), "text/markdown", "markdown/1")
    size = {"target": target, "max": most}
    chosen = ChunkSettings.model_validate(
        {"strategy": strategy, "size": size, "overlap": {"size": overlap}, **keys}
    )
    return chunk_document(document, "a.md", chosen, CharCounter(), None)


def assert_lawful(text: str, chunks: list[Chunk], most: int) -> None:
    """Slices of the source in its order, none blank or over the maximum, that leave out no ink."""
    at = 0
    for chunk in chunks:
        start, end = chunk.cut.start, chunk.cut.end
        assert text[start:end] == chunk.text
        assert chunk.text.strip()
        assert len(chunk.text) <= most
        assert start >= at
        assert not text[at:start].strip()
        at = end
    assert not text[at:].strip()


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    ("text", "target", "most", "overlap"),
    [
        pytest.param("tick tock tick tock", 4, 5, 1, id="br001 repeated text"),
        pytest.param(
            f"A title line\n{'long paragraph words ' * 20}\n\nSecond title\n{'paragraph two. ' * 3}",
            50, 60, 10, id="br004 levels of separators",
        ),
        pytest.param("abc\n" * 50, 50, 50, 24, id="br006 short lines"),
        pytest.param("Grüße aus Köln, schön für Öl. 👍🏽👨‍👩‍👧 " * 5, 8, 12, 3, id="br013 letters of many bytes"),
        pytest.param(f"short\n{'x' * 105_000}\nshort", 8_000, 8_000, 0, id="br016 a long line"),
    ],
)  # fmt: skip
def test_chunks_are_slices_in_order_that_lose_nothing(
    strategy: str, text: str, target: int, most: int, overlap: int
) -> None:
    assert_lawful(text, cut(text, strategy, target, most, overlap), most)


def test_br001_each_of_four_equal_pieces_has_its_own_place() -> None:
    chunks = cut("tick tock tick tock", "recursive", 4, 5, 1, breaks=["word"])
    assert [chunk.cut.start for chunk in chunks] == [0, 5, 10, 15]


def test_br006_an_overlap_that_leaves_no_way_forward_is_refused_before_any_text() -> None:
    with pytest.raises(ValidationError, match=r"overlap.size 49 must be under half of size.target 50"):
        cut("abc\n" * 50, "window", 50, 50, 49)


def test_br011_lines_in_fences_of_any_form_are_no_headings() -> None:
    text = "# One\n\n```\n# a\n````\n\n# Two\n\n   ```\n# b\n   ```\n\n# Three\n\n```\n# c\n\n# d"
    headings = [block for block in parse_blocks(text, "markdown") if block.kind is BlockKind.HEADING]
    assert [heading.title for heading in headings] == ["One", "Two", "Three"]


@pytest.mark.parametrize("strategy", ["verbatim", "sections", "headings", "window", "recursive"])
def test_br018_each_part_of_a_table_is_embedded_with_its_header(strategy: str) -> None:
    head = "| part | price |\n| --- | --- |\n"
    text = head + "".join(f"| p{number} | {number} |\n" for number in range(80))
    chunks = cut(text, strategy, 300, 400)
    assert len(chunks) > 3
    assert all(head in chunk.embed_text for chunk in chunks)
    assert sum(chunk.text.count(head) for chunk in chunks) == 1


@pytest.mark.parametrize("margin", ["   ", "> ", "  > "])
def test_br018_so_is_each_part_of_a_table_inside_a_list_or_a_quote(margin: str) -> None:
    head = f"{margin}| part | price |\n{margin}|:-----|------:|\n"
    rows = "".join(f"{margin}| p{number} | {number} |\n" for number in range(80))
    first = "" if margin == "> " else "1. Look it up:\n\n"
    chunks = cut(f"{first}{head}{rows}", "verbatim", 300, 400)
    assert len(chunks) > 3
    assert all(head.rstrip() in chunk.embed_text for chunk in chunks)
    assert sum(chunk.text.count("| part |") for chunk in chunks) == 1


def test_br018_bars_alone_make_no_table_of_a_list() -> None:
    chunks = cut("- a | b\n- --- | c\n" * 60, "verbatim", 300, 400)
    assert len(chunks) > 3
    assert all(chunk.embed_text == f"a\n{chunk.text}" for chunk in chunks)


def test_br020_abbreviations_end_no_chunk_and_spaces_stay() -> None:
    text = "El Sr. Gil, conforme al art. 104 inc. 5 del código, pagó la multa ($ 200). Y luego se fue. " * 4
    chunks = cut(text, "recursive", 110, 140, breaks=["sentence", "word"])
    assert len(chunks) > 3
    assert all(chunk.text.endswith(("fue.", "($ 200).")) for chunk in chunks)
    assert_lawful(text, chunks, 140)

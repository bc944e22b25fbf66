"""A `compat` preset: the settings it stands for, and the chunks that come out at the callers' entry."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError

from transforms.chunkers.chunk import chunk_document
from transforms.chunkers.settings import ChunkSettings
from transforms.model.chunk import Chunk
from transforms.model.document import Document
from transforms.structure.blocks import parse_blocks


class Words:
    """Counts words as tokens."""

    name = "words"

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [found.span() for found in re.finditer(r"\S+", text)]


def _embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Cats one way, dogs the other."""
    return np.array([[text.count("cat"), text.count("dog")] for text in texts], dtype=np.float32)


def _document(text: str, **kept: object) -> Document:
    given = {"media_type": "text/markdown", "extractor": "test/1", **kept}
    return Document(text, parse_blocks(text, "markdown"), **given)  # type: ignore[arg-type]


def _chunks(document: Document, max_tokens: int | None = None, **keys: object) -> list[Chunk]:
    settings = ChunkSettings.model_validate(keys)
    return chunk_document(document, "notes/pump.md", settings, Words(), max_tokens, _embed)


def test_a_key_that_is_left_out_has_the_value_of_the_system() -> None:
    mindnet = ChunkSettings.model_validate({"compat": "mindnet", "size": {"max": 500}})
    assert (mindnet.strategy, mindnet.size.target, mindnet.size.max, mindnet.overlap_size) == (
        "headings", 400, 500, 65,
    )  # fmt: skip
    page = ChunkSettings.model_validate({"compat": "replypier", "size": {"max": 600}})
    assert (page.size.target, page.size.max, page.overlap_size) == (600, 600, 200)


def test_settings_read_again_are_the_same() -> None:
    settings = ChunkSettings.model_validate({"compat": "rag", "overlap": {"size": 7}})
    assert ChunkSettings.model_validate(settings.model_dump()) == settings
    assert ChunkSettings.model_validate_json(settings.model_dump_json(by_alias=True)) == settings


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"compat": "mindnet", "strategy": "verbatim"}, "headings or window"),
        ({"compat": "other"}, "replypier"),
    ],
)
def test_what_goes_with_no_system_is_refused(keys: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        ChunkSettings.model_validate(keys)


def test_a_page_embeds_its_title_and_the_tail_of_the_piece_before() -> None:
    document = _document("One two. Three four.", title="Numbers")
    chunks = _chunks(document, compat="replypier", size={"max": 12}, overlap={"size": 4})
    assert [chunk.text for chunk in chunks] == ["One two. ", "Three four."]
    assert [chunk.embed_text for chunk in chunks] == ["Numbers\nOne two. ", "Numbers\nwo. Three four."]
    assert [(chunk.context_start, chunk.context_end) for chunk in chunks] == [(None, None), (5, 9)]


def test_a_page_that_fits_comes_back_without_its_title_and_one_without_ink_not_at_all() -> None:
    chunks = _chunks(_document("Costs $5.", title="Pricing"), compat="replypier")
    assert [chunk.embed_text for chunk in chunks] == ["Costs $5."]
    assert _chunks(_document(" \n"), compat="replypier") == []


def test_meaning_is_compared_by_the_embedder_of_the_job() -> None:
    text = "A cat. The cat. One cat. A dog. The dog. One dog."
    chunks = _chunks(_document(text), compat="rag", semantic={"percentile": 60})
    assert [(chunk.text, chunk.cut.semantic_group) for chunk in chunks] == [
        ("A cat. The cat. One cat.", 0), ("A dog. The dog. One dog.", 1),
    ]  # fmt: skip


def test_sections_have_no_heading_and_a_pdf_has_no_sections() -> None:
    text = "# Pump\n\nOpen it.\n\n## Stop\n\nClose it."
    sections = _chunks(_document(text), compat="yau")
    assert [(chunk.text, chunk.breadcrumb) for chunk in sections] == [
        ("Open it.", "Pump"),
        ("Close it.", "Stop"),
    ]
    flat = _chunks(_document(text, media_type="application/pdf"), compat="yau")
    assert [chunk.text for chunk in flat] == [text]


def test_a_split_note_stores_its_new_text_and_embeds_what_the_system_stored() -> None:
    text = "## H\n\nAlpha alpha alpha. Bravo bravo bravo. Charlie charlie charlie."
    chunks = _chunks(
        _document(text, title="Doc"), compat="mindnet", size={"target": 20, "max": 22}, overlap={"size": 20}
    )
    assert [chunk.text for chunk in chunks] == [
        "## H\n\nAlpha alpha alpha. Bravo bravo bravo.", "Charlie charlie charlie.",
    ]  # fmt: skip
    assert chunks[1].embed_text == (
        "Doc > H\nBravo bravo bravo. Alpha alpha alpha. ## H Charlie charlie charlie."
    )


def test_what_the_model_cannot_read_is_embedded_without_title_and_context_and_says_so() -> None:
    document = _document("One two. Three four.", title="All the numbers")
    chunks = _chunks(document, 3, compat="replypier", size={"max": 12}, overlap={"size": 4})
    assert [(chunk.embed_text, chunk.warnings) for chunk in chunks] == [
        ("One two. ", ("budget_cut",)), ("Three four.", ("budget_cut",)),
    ]  # fmt: skip
    halves = _chunks(_document("one two three four"), 2, compat="replypier")
    assert all(chunk.embed_tokens <= 2 for chunk in halves)
    assert "".join("".join(chunk.text for chunk in halves).split()) == "onetwothreefour"

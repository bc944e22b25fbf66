"""``semantic``: the faults of the system it comes from, by id, and what is wanted instead."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from transforms.chunkers.chunk import chunk_document
from transforms.chunkers.settings import ChunkSettings
from transforms.embedders.hashed import CharCounter
from transforms.model.chunk import Chunk
from transforms.model.document import Document
from transforms.structure.blocks import parse_blocks

TOPICS = ("cat", "ship", "bread", "moon")


class Topics:
    """Embeds a text by how often it names each topic: real vectors whose turns a reader can see."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def __call__(self, texts) -> np.ndarray:
        self.calls.append(list(texts))
        return np.array(
            [[text.lower().count(topic) for topic in TOPICS] for text in texts], dtype=np.float32
        )


def cut(text: str, target: int = 200, top: int | None = None, embed=None, **semantic) -> list[Chunk]:
    document = Document(text, parse_blocks(text, "markdown"), "text/markdown", "markdown/1")
    chosen = ChunkSettings.model_validate(
        {
            "strategy": "semantic",
            "size": {"target": target, "max": top or target, "min_fill": semantic.pop("min_fill", 0)},
            "overlap": {"size": semantic.pop("overlap", 0)},
            "semantic": semantic,
        }
    )
    return chunk_document(document, "a.md", chosen, CharCounter(), None, embed or Topics())


def texts(*given, **more) -> list[str]:
    return [chunk.text for chunk in cut(*given, **more)]


TWO = "A cat. The cat sat. My cat slept. A ship. The ship sank. My ship burnt."


def test_a_chunk_ends_where_the_meaning_turns_and_says_how_far() -> None:
    chunks = cut(TWO, percentile=60, window=0)
    assert [chunk.text for chunk in chunks] == [
        "A cat. The cat sat. My cat slept.", "A ship. The ship sank. My ship burnt.",
    ]  # fmt: skip
    facts = [(c.cut.semantic_group, c.cut.distance_before, c.cut.distance_after) for c in chunks]
    assert facts == [(0, None, 1.0), (1, 1.0, None)]


def test_G01_G15_chunks_are_slices_of_the_source_and_code_is_one_unit() -> None:
    assert texts("One.\n\nTwo.\n    Three.", percentile=100) == ["One.\n\nTwo.\n    Three."]
    fence = "```yaml\na: end.\n  b: 1\n```"
    assert texts(fence, percentile=100) == [fence]
    assert texts(f"A cat.\n\n{fence}\n\nA ship.", percentile=0, window=0) == [
        f"A cat.\n\n{fence}\n\nA ship."
    ]


def test_G02_a_list_number_stays_with_its_step() -> None:
    text = "3. A cat.\n4. Wait for the cat.\n5. Publish the ship.\n\nDr. Meyer bakes bread, e.g. rye."
    chunks = texts(text, percentile=0, window=0)
    assert chunks[-1] == "Dr. Meyer bakes bread, e.g. rye."
    assert not any(chunk.strip().rstrip(".").isdigit() for chunk in chunks)


def test_G03_a_heading_is_a_hard_border_and_goes_with_what_follows() -> None:
    text = "# Cats\n\nA cat. A cat.\n\n## More\n\nA cat."
    assert texts(text, percentile=100) == ["# Cats\n\nA cat. A cat.", "## More\n\nA cat."]


def test_G04_two_sentences_may_part_and_one_topic_need_not() -> None:
    assert texts("A cat. A ship.", percentile=0, window=0, min_distance=0.5) == ["A cat. A ship."]
    assert texts("A cat. A cat. A ship.", percentile=40, window=0) == ["A cat. A cat.", "A ship."]
    one_topic = "A cat. A cat and cat. A cat with bread. A cat."
    assert len(texts(one_topic, percentile=20, window=0)) > 1
    assert texts(one_topic, percentile=20, window=0, min_distance=0.4) == [one_topic]


def test_G05_equal_sentences_are_never_parted() -> None:
    class Noisy(Topics):
        def __call__(self, texts) -> np.ndarray:
            vectors = super().__call__(texts).astype(np.float64)
            return (vectors + np.linspace(0, 1e-9, len(texts))[:, None]).astype(np.float32)

    text = " ".join(["A cat sat on the mat."] * 30)
    assert texts(text, target=2000, percentile=50, embed=Noisy()) == [text]


def test_G06_a_small_group_joins_the_nearer_neighbour() -> None:
    text = "A cat. The cat sat. A cat ate bread. Old bread is good bread. A ship."
    chunks = texts(text, percentile=0, window=0, min_fill=0.1)
    assert all(len(chunk) >= 20 for chunk in chunks)
    assert " ".join(chunks) == text


def test_G07_G08_G10_a_large_group_is_cut_at_its_paragraphs_and_sentences_and_stored_once() -> None:
    text = "A cat sat here. A cat sat there.\n\nA cat ran off. A cat came home."
    chunks = cut(text, target=35, percentile=100, overlap=10)
    assert [chunk.text for chunk in chunks] == [
        "A cat sat here. A cat sat there.", "A cat ran off. A cat came home.",
    ]  # fmt: skip
    assert chunks[1].embed_text == "a\nsat there.\nA cat ran off. A cat came home."


def test_G09_G18_the_maximum_always_holds_and_no_grapheme_is_cut() -> None:
    assert [len(chunk) for chunk in texts("a" * 50 + "\n\nb", target=20)] == [20, 20, 13]
    family = "👨\u200d👩\u200d👧\u200d👦"
    assert texts(family * 2, target=10) == [family, family]


def test_G11_G17_overlap_and_percentile_are_checked_before_any_text() -> None:
    for keys in (
        {"size": {"target": 20, "max": 20}, "overlap": {"size": 20}},
        {"semantic": {"percentile": 101}},
        {"semantic": {"min_distance": -1}},
    ):
        with pytest.raises(ValidationError):
            ChunkSettings.model_validate({"strategy": "semantic", **keys})


def test_G12_a_chunk_has_the_common_facts() -> None:
    (chunk,) = cut("# Cats\n\nA cat.")
    assert (chunk.cut.start, chunk.cut.end, chunk.section_title) == (0, 14, "Cats")
    assert cut(" \n") == []


def test_G14_stops_of_all_scripts_and_quotes_end_sentences() -> None:
    for text in ("料金はcatです。shipできます。", "هل cat مساعدة؟ اكتب ship", 'He said "cat." Then ship.'):
        assert len(texts(text, percentile=0, window=0, min_distance=0.1)) == 1
        seen = Topics()
        cut(text, percentile=0, window=0, embed=seen)
        assert len(seen.calls[0]) == 2


def test_G16_distances_are_rounded_so_that_machines_agree() -> None:
    chunks = cut("A cat and ship. A cat and bread, cat.", percentile=0, window=0, min_distance=1.0)
    assert len(chunks) == 1
    chunks = cut("A cat and ship. A cat and bread. A moon.", percentile=50, window=0)
    assert [chunk.cut.distance_after for chunk in chunks] == [1.0, None]


def test_G19_a_document_is_embedded_in_calls_of_a_bounded_number_of_texts() -> None:
    seen = Topics()
    cut("A cat. " * 25, target=50, max_sentences=10, embed=seen)
    assert [len(call) for call in seen.calls] == [10, 10, 5]
    assert seen.calls[0][:2] == ["A cat. A cat.", "A cat. A cat. A cat."]


def test_G22_every_chunk_has_new_ink() -> None:
    assert "".join(texts("ed c  b", target=4)).replace(" ", "") == "edcb"


def test_a_text_without_a_vector_is_no_turn() -> None:
    assert texts("A cat. Nothing known. A cat.", percentile=0, window=0) == ["A cat. Nothing known. A cat."]


def test_without_an_embedder_it_says_what_is_missing() -> None:
    document = Document("A.", parse_blocks("A.", "markdown"), "text/markdown", "markdown/1")
    with pytest.raises(ValueError, match="needs an embedder"):
        chunk_document(document, "a", ChunkSettings(strategy="semantic"), CharCounter(), None)

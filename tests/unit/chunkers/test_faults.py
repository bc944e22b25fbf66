"""Faults of the systems before, by id, with the inputs they were found with: those that have no strategy of their own.

The texts without a literal are those of the recorded cases.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from transforms.chunkers.chunk import chunk_document
from transforms.chunkers.settings import ChunkSettings
from transforms.embedders.hashed import CharCounter, HashEmbedder
from transforms.embedders.registry import make_embedder
from transforms.embedders.settings import StaticSettings
from transforms.extractors.registry import extract
from transforms.extractors.settings import ExtractSettings
from transforms.model.chunk import Chunk
from transforms.model.document import Document, canonical_text
from transforms.structure.blocks import parse_blocks
from transforms.structure.sentences import sentence_spans

REPO = Path(__file__).parents[3]
STATIC = make_embedder(StaticSettings())


@cache
def recorded(case: str) -> str:
    """The input text of a recorded case."""
    for file in sorted((REPO / "tests" / "data" / "golden").glob("*.json")):
        for each in json.loads(file.read_text(encoding="utf-8"))["cases"]:
            if each["id"] == case:
                given = each["input"]
                return canonical_text(given.get("text") or given["documents"][0]["text"])
    raise KeyError(case)


def cut(text: str, strategy: str = "verbatim", counter=None, embed=None, **keys) -> list[Chunk]:
    document = Document(text, parse_blocks(text, "markdown"), "text/markdown", "markdown/1")
    chosen = ChunkSettings.model_validate({"strategy": strategy, "overlap": {"size": 0}, **keys})
    return chunk_document(document, "a.md", chosen, counter or CharCounter(), None, embed)


def texts(*given, **more) -> list[str]:
    return [chunk.text for chunk in cut(*given, **more)]


def size(target: int, top: int | None = None, **more) -> dict:
    return {"target": target, "max": top or target, **more}


def test_R11_breaks_are_chosen_by_kind_and_by_fill() -> None:
    text = "\n\n".join(["p" * 31, "\n".join(["l" * 30] * 4)] * 4)
    lengths = [len(chunk.strip()) for chunk in texts(text, size=size(100, min_fill=0))]
    assert np.mean(lengths[:-1]) > 80
    assert max(lengths) <= 100


@pytest.mark.parametrize(
    "keys", [{"size": {"target": 0, "max": 0}}, {"size": {"target": 4, "max": 4}, "overlap": {"size": 999}},
             {"overlap": {"size": -1}}],
)  # fmt: skip
def test_R26_sizes_are_checked_together_and_before_any_text(keys) -> None:
    with pytest.raises(ValidationError):
        ChunkSettings.model_validate(keys)


def test_R27_X05_a_lone_surrogate_is_replaced_once_and_positions_are_code_points() -> None:
    text = canonical_text("ab\ud83dcd")
    assert text == "ab\ufffdcd"
    assert "".join(texts(text, size=size(3))).encode() == text.encode()
    (chunk,) = cut("👍🏽")
    assert (chunk.cut.start, chunk.cut.end) == (0, 2)


def test_G02_no_chunk_is_a_list_number() -> None:
    chunks = texts(
        recorded("001-list"),
        "semantic",
        size=size(200, min_fill=0),
        semantic={"percentile": 80},
        embed=STATIC.embed,
    )
    assert all(any(letter.isalpha() for letter in chunk) for chunk in chunks)
    assert not any(chunk.endswith(("Dr.", "Ms.", "e.g.", "5.")) for chunk in chunks)


@pytest.mark.parametrize("percentile", [50, 80, 95])
def test_G03_no_chunk_ends_in_a_heading(percentile) -> None:
    for chunk in texts(
        recorded("001-pricing"),
        "semantic",
        size=size(600),
        semantic={"percentile": percentile},
        embed=STATIC.embed,
    ):
        assert not chunk.splitlines()[-1].startswith("#")


def test_G06_no_group_is_smaller_than_the_least_fill_that_a_neighbour_can_take() -> None:
    chunks = texts(
        recorded("001-topics-80"),
        "semantic",
        size=size(600),
        semantic={"percentile": 50},
        embed=STATIC.embed,
    )
    assert len(chunks) > 2
    assert min(map(len, chunks)) >= 0.3 * 600


def test_G07_a_large_group_is_cut_at_sentences() -> None:
    text = recorded("001-faq")
    chunks = texts(text, "semantic", size=size(120), semantic={"percentile": 95}, embed=STATIC.embed)
    ends = [chunk.rstrip()[-1] for chunk in chunks]
    assert sum(end in ".?!:" for end in ends) >= 0.8 * len(ends)


def test_G08_what_is_stored_is_the_document_once() -> None:
    text = recorded("001-giant")
    chunks = cut(
        text,
        "semantic",
        size=size(600),
        semantic={"percentile": 95},
        overlap={"size": 60},
        embed=STATIC.embed,
    )
    assert sum(len(chunk.text) for chunk in chunks) <= len(text)
    assert any(chunk.context_start is not None for chunk in chunks)


def test_G09_the_maximum_holds_without_an_empty_separator() -> None:
    chunks = texts("a" * 50 + "\n\nb", "recursive", size=size(20), breaks=["\n\n"])
    assert max(map(len, chunks)) <= 20


def test_G10_a_separator_ends_the_piece_before_it() -> None:
    chunks = texts("aa bb. cc dd. ee", "recursive", size=size(10, min_fill=0), breaks=[". ", " "])
    assert chunks == ["aa bb.", "cc dd. ee"]


def test_G14_sentences_are_told_in_all_scripts() -> None:
    for text in (
        "料金は三つです。解約できます。",
        "هل تحتاج إلى مساعدة؟ اكتب إلينا",
        'He said "go." Then left.',
    ):
        assert len(list(sentence_spans(text, 0, len(text)))) == 2


def test_G20_X03_sizes_are_in_the_model_s_tokens_where_that_is_wanted() -> None:
    text = "料金は三つです。" * 37 + "料金は三"
    assert len(text) == 300
    chunks = cut(text, counter=STATIC.counter, size=size(100, unit="tokens"))
    assert max(STATIC.counter.count([chunk.text for chunk in chunks])) <= 100
    assert len(chunks) >= 2
    for strategy in ("verbatim", "semantic", "sections", "headings", "window"):
        (chunk,) = cut("x" * 2800, strategy, size=size(3000), embed=HashEmbedder(4).embed)
        assert (chunk.tokens, chunk.counter) == (700, "chars/4")


def test_G21_five_thousand_sentences_are_a_few_calls() -> None:
    calls = []

    def embed(found):
        calls.append(len(found))
        return np.ones((len(found), 2), dtype=np.float32)

    cut("A cat sat. " * 5000, "semantic", size=size(1000), embed=embed)
    assert calls == [2000, 2000, 1000]


def test_G23_no_splitter_of_another_library_is_needed() -> None:
    assert "langchain" not in (REPO / "setup.py").read_text(encoding="utf-8")


def test_Y05_equipment_in_a_heading_is_found() -> None:
    (chunk,) = cut("## P-101\nOpen the vent.", "sections", entities={"vocabulary": ["P-101"]})
    assert (chunk.entity_id, chunk.section_path) == ("P-101", ("P-101",))


def test_Y06_equal_headings_under_different_parents_have_different_paths() -> None:
    chunks = cut("# A\n## Steps\n1. x\n# B\n## Steps\n1. y", "sections")
    assert [(chunk.section_path, chunk.section_titles) for chunk in chunks] == [
        (("A",), ("A", "Steps")), (("B",), ("B", "Steps")),
    ]  # fmt: skip


def test_Y07_headings_of_all_forms_are_headings() -> None:
    text = "T\n===\n  ## In\n## Out ##\nx"
    assert [(block.level, block.title) for block in parse_blocks(text, "markdown") if block.title] == [
        (1, "T"), (2, "In"), (2, "Out"),
    ]  # fmt: skip


def test_Y27_Y33_M26_work_grows_with_the_text_and_not_with_the_sizes() -> None:
    def calls(text: str, strategy: str, target: int) -> int:
        """Calls of functions in Python and C while the text is cut."""
        document = Document(text, parse_blocks(text, "markdown"), "text/markdown", "markdown/1")
        chosen = ChunkSettings.model_validate(
            {"strategy": strategy, "size": size(target), "doc_type": "procedure", "overlap": {"size": 0}}
        )
        count = 0

        def seen(_frame, event, _arg) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        chunk_document(document, "a", chosen, CharCounter(), None)
        sys.setprofile(seen)
        try:
            chunk_document(document, "a", chosen, CharCounter(), None)
        finally:
            sys.setprofile(None)
        return count

    for strategy, unit in (
        ("sections", "\n"), ("sections", "# "), ("sections", "title "), ("sections", "x" * 100), ("sections", "aaaaa "),
        ("sections", "aaaa\n"), ("sections", "1. Open.\n"), ("window", "A block.\n\n"), ("window", "aaaa\n"),
    ):  # fmt: skip
        once, twice = (calls("a" + unit * count, strategy, 200) for count in (1000, 2000))
        assert twice <= 2.1 * once + 100, (strategy, unit)
        assert calls("a" + unit * 2000, strategy, 2000) <= twice + 100, (strategy, unit)


def test_Y28_the_words_of_a_long_line_leave_no_runt() -> None:
    chunks = texts(recorded("002-pricing"), "sections", size=size(240, 400))
    assert min(len(chunk) for chunk in chunks) > len("count.")
    assert all(len(chunk) <= 400 for chunk in chunks)


def test_Y30_a_form_feed_ends_a_page() -> None:
    (document,) = extract(b"page one\x0cpage two", "a.txt", ExtractSettings()).documents
    chosen = ChunkSettings.model_validate({"strategy": "sections", "size": size(10)})
    chunks = chunk_document(document, "a.txt", chosen, CharCounter(), None)
    assert [(chunk.text.strip(), chunk.page_start) for chunk in chunks] == [
        ("page one", 1),
        ("page two", 2),
    ]


def test_M06_a_heading_goes_with_what_follows_however_long_that_is() -> None:
    for body in ("word " * 400, "x" * 2000):
        chunks = texts("# Book\n\n## Big\n\n" + body.strip(), "headings", size=size(280, 420))
        assert chunks[0].startswith("# Book\n\n## Big\n\n" + body[:20])


def test_M19_sizes_and_budgets_are_counted_by_the_model() -> None:
    assert cut(" ") == []
    (chunk,) = cut("料" * 280, counter=STATIC.counter)
    assert chunk.tokens == STATIC.counter.count(["料" * 280])[0] >= 280


def test_M22_the_small_end_of_a_long_section_joins_a_neighbour() -> None:
    sentences = " ".join(f"Sentence {number} of the long section is here." for number in range(20))
    text = f"## Long\n\n{sentences} Tiny.\n\n## Next\n\nThe next section is short."
    for target in range(90, 130, 5):
        chunks = texts(text, "headings", size=size(target))
        assert min(len(chunk) for chunk in chunks) >= int(0.3 * target), target


def test_X01_every_chunk_of_every_recorded_text_is_a_slice() -> None:
    for case in ("000-faq-400", "001-topics-80", "002-procedure-25", "003-zettel-defaults"):
        text = recorded(case)
        for strategy in ("verbatim", "semantic", "sections", "headings", "window"):
            chunks = cut(text, strategy, size=size(300), embed=HashEmbedder(4).embed)
            assert [chunk.text for chunk in chunks] == [text[c.cut.start : c.cut.end] for c in chunks]
            assert chunks[0].cut.start <= len(text) - len(text.lstrip())


def test_X04_there_is_one_line_break_and_one_white_space() -> None:
    assert canonical_text("a\r\nb\rc") == "a\nb\nc"
    assert cut("\x0b\x0c\x1c\x85\u2028\u3000") == []

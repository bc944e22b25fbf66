"""``sections`` and steps: the faults of the system they come from, by id, and what is wanted instead."""

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
from transforms.model.document import Document, Page, canonical_text
from transforms.structure.blocks import parse_blocks
from transforms.structure.steps import StepRules, step_runs

RULES = StepRules.of(
    ChunkSettings().steps.patterns, attach=("WARNING", "CAUTION", "NOTE"), min_run=2
)  # fmt: skip


def cut(
    text: str, doc_type: str | None = None, max_tokens: int | None = None, **keys: object
) -> list[Chunk]:
    document = Document(text, parse_blocks(text, "markdown"), "text/markdown", "test/1")
    chosen = ChunkSettings.model_validate({"strategy": "sections", "doc_type": doc_type, **keys})
    return chunk_document(document, "sop.md", chosen, CharCounter(), max_tokens)


def texts(chunks: list[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks]


def prose(paragraphs: int, words: int = 30) -> str:
    return "\n\n".join(f"Paragraph {n} " + "word " * words + "ends." for n in range(paragraphs))


def steps(count: int, words: int = 6) -> str:
    return "\n".join(f"{n}. Step " + "word " * words + "done." for n in range(1, count + 1))


def step_texts(text: str) -> list[list[str]]:
    runs = step_runs(text, parse_blocks(text, "markdown"), RULES)
    return [[text[step.start : step.end] for step in run.steps] for run in runs]


def test_Y01_a_section_is_cut_at_paragraphs_near_the_target() -> None:
    text = prose(10)
    chunks = cut(text, size={"target": 400, "max": 6000}, doc_type="policy")
    assert len(chunks) == 5
    assert all(chunk.text.startswith("Paragraph") and chunk.text.endswith("ends.") for chunk in chunks)


def test_Y02_chunks_are_slices_of_the_canonical_text() -> None:
    text = canonical_text("a\n\nb  \r\nc")
    assert texts(cut(text)) == ["a\n\nb  \nc"]


def test_Y03_a_comment_in_a_fence_is_no_heading() -> None:
    (only,) = cut("# T\n```sh\n# build\nmake\n```\nDone.")
    assert (only.text, only.section_path) == ("# T\n```sh\n# build\nmake\n```\nDone.", ("T",))


def test_Y04_Y06_a_heading_without_text_is_kept_as_the_parent() -> None:
    (only,) = cut("# Pump P-101\n## Start\nOpen it.")
    assert only.text == "# Pump P-101\n## Start\nOpen it."
    chunks = cut("# A\n\nIntro.\n\n## Steps\n1. x\n# B\n## Steps\n1. y")
    assert [chunk.section_path for chunk in chunks[1:]] == [("A", "Steps"), ("B",)]
    assert chunks[2].section_titles == ("B", "Steps")


def test_Y05_the_breadcrumb_is_embedded() -> None:
    text = f"## P-101\n\n{prose(3)}"
    last = cut(text, size={"target": 200, "max": 250})[-1]
    assert last.embed_text.startswith("P-101\n")


def test_Y07_headings_are_those_of_CommonMark() -> None:
    chunks = cut("T\n===\ntext\n  ## In\nmore\n## Out ##\nx")
    assert [chunk.section_path for chunk in chunks] == [("T",), ("T", "In"), ("T", "Out")]


def test_Y08_Y30_pages_come_from_the_extractor_or_are_unknown_and_no_title_is_made_up() -> None:
    (only,) = cut("x")
    assert (only.page_start, only.section_title) == (None, None)
    text = "page one\n\npage two"
    pages = (Page(0, 10, 1), Page(10, 18, 2))
    document = Document(text, parse_blocks(text, "plain"), "application/pdf", "test/1", pages=pages)
    chosen = ChunkSettings.model_validate({"strategy": "sections", "size": {"target": 8, "max": 8}})
    chunks = chunk_document(document, "a.pdf", chosen, CharCounter(), None)
    assert [(chunk.text, chunk.page_start) for chunk in chunks] == [("page one", 1), ("page two", 2)]


PROCEDURE = "\n".join(
    f"{n}. Turn the valve number {n} by a quarter and wait.\n"
    + ("   NOTE: the handle is behind the rack.\n" if n % 4 == 2 else "")
    + ("\n   WARNING: hot water may spray.\n" if n % 5 == 4 else "")
    for n in range(1, 26)
)


def test_Y09_a_procedure_over_the_ceiling_is_cut_between_steps_and_says_which_it_holds() -> None:
    chunks = cut(
        f"## Steps\n\n{PROCEDURE}", "procedure", size={"target": 300, "max": 400}, steps={"ceiling": 800}
    )
    assert all(not chunk.text.startswith("   NOTE") for chunk in chunks)
    assert all(len(chunk.text) <= 800 for chunk in chunks)
    assert chunks[0].cut.step_first == 1
    assert chunks[-1].cut.step_last == 25
    assert {chunk.cut.step_total for chunk in chunks} == {25}
    for before, chunk in pairwise(chunks):
        assert chunk.cut.step_first == (before.cut.step_last or 0) + 1
        assert f"steps {chunk.cut.step_first}-{chunk.cut.step_last} of 25" in chunk.embed_text


def test_Y09_a_warning_goes_with_the_step_behind_it_and_a_note_with_its_own() -> None:
    text = "1. Open.\n   NOTE: slowly.\n\n   WARNING: hot.\n\n2. Close.\n\n   WARNING: wet.\n\n   a. Log it.\n3. End."
    assert step_texts(text) == [
        [
            "1. Open.\n   NOTE: slowly.",
            "   WARNING: hot.\n\n2. Close.\n\n   WARNING: wet.\n\n   a. Log it.",
            "3. End.",
        ]
    ]


def test_Y09_a_note_that_is_indented_under_a_step_stays_with_it_and_one_that_is_not_goes_on() -> None:
    text = "1. Open.\n\n   NOTE: slowly.\n\n   WARNING: hot.\n\n2. Close.\n\nNOTE: last.\n\n3. End."
    assert step_texts(text) == [
        ["1. Open.\n\n   NOTE: slowly.", "   WARNING: hot.\n\n2. Close.", "NOTE: last.\n\n3. End."]
    ]


def test_Y09_no_chunk_begins_with_the_note_of_the_step_before() -> None:
    text = (
        "1. Open the valve.\n\n   NOTE: the handle is behind the rack.\n\n2. Press the green button on the left."
        "\n\n3. Wait for the lamp."
    )
    chunks = cut(
        text, "procedure", size={"target": 60, "max": 90}, steps={"ceiling": 90}, overlap={"size": 0}
    )
    assert [chunk.text for chunk in chunks] == [
        "1. Open the valve.\n\n   NOTE: the handle is behind the rack.",
        "2. Press the green button on the left.\n\n3. Wait for the lamp.",
    ]


def test_Y10_above_the_ceiling_there_are_as_few_chunks_as_fit_it() -> None:
    text = steps(20, words=2)
    for ceiling, count in ((len(text), 1), (len(text) - 1, 2)):
        found = cut(text, "procedure", size={"target": 100, "max": 100}, steps={"ceiling": ceiling})
        assert len(found) == count
        assert max(len(chunk.text) for chunk in found) <= ceiling


@pytest.mark.parametrize(
    "text",
    ["3) Open\n4) Close", "**Step 3** Open\n\n**Step 4** Close", "| 3 | Open |\n| 4 | Close |",
     "Schritt 3 öffnen\nSchritt 4 schließen", "(1) Open\n(2) Close", "1. a\n   1. sub\n   2. sub\n2. b"],
)  # fmt: skip
def test_Y11_steps_are_numbered_in_many_forms(text: str) -> None:
    assert [len(run) for run in step_texts(text)] == [2]


@pytest.mark.parametrize(
    "text",
    ["3.5 mm is enough\n4.5 mm is more", "10.0.0.1 is up\n11.0.0.1 is down", "2026. A new year\n1999. An old one",
     "1. Note.\nProse.", "```\n1. a\n2. b\n```", "1. a\n3. b", ""],
)  # fmt: skip
def test_Y11_what_is_no_run_of_steps(text: str) -> None:
    assert step_texts(text + "\nx") == []


def test_Y12_only_the_steps_are_kept_together() -> None:
    text = f"1. Note.\n\n{prose(30)}"
    assert max(len(chunk.text) for chunk in cut(text, "procedure", size={"target": 400, "max": 500})) <= 500
    mixed = f"{prose(4)}\n\n{steps(10)}\n\n{prose(4)}"
    chunks = cut(mixed, "procedure", size={"target": 300, "max": 350})
    assert steps(10) in texts(chunks)
    assert all(len(chunk.text) <= 350 for chunk in chunks if chunk.cut.step_total is None)


@pytest.mark.parametrize(
    ("doc_type", "count"), [("procedure", 1), ("Procedure", 1), ("SOP", 1), ("policy", 6)]
)
def test_Y13_types_are_compared_in_any_case_with_a_set(doc_type: str, count: int) -> None:
    keys = {
        "size": {"target": 200, "max": 250},
        "steps": {"ceiling": 4000, "doc_types": ["procedure", "sop"]},
    }
    assert (len(cut(steps(25), doc_type, **keys)) == 1) is (count == 1)


def test_Y13_a_type_can_be_in_the_document_s_metadata() -> None:
    document = Document(
        steps(25),
        parse_blocks(steps(25), "markdown"),
        "text/markdown",
        "t/1",
        metadata={"kind": "Procedure"},
    )
    chosen = ChunkSettings.model_validate(
        {"strategy": "sections", "size": {"target": 200, "max": 400}, "doc_type": {"from_metadata": "kind"}}
    )
    assert len(chunk_document(document, "a", chosen, CharCounter(), None)) == 1


def test_Y14_a_long_paragraph_is_cut_at_sentences() -> None:
    text = "A sentence of some words. " * 200
    chunks = cut(text, size={"target": 400, "max": 6000})
    assert all(len(chunk.text) <= 400 and chunk.text.endswith(".") for chunk in chunks)
    assert " ".join(chunk.text for chunk in chunks) == text.strip()


def test_Y15_there_is_no_chunk_without_ink() -> None:
    assert cut("") == []
    assert all(chunk.text.strip() for chunk in cut("\n\n" + "x" * 4000))


@pytest.mark.parametrize(
    "keys",
    [{"size": {"target": 500, "max": 100}}, {"size": {"target": 0, "max": 0}}, {"steps": {"ceiling": 10}},
     {"steps": {"patterns": ["("]}}, {"size": {"target": "8e2 "}}],
)  # fmt: skip
def test_Y16_Y17_Y32_sizes_that_cannot_hold_are_refused(keys: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ChunkSettings.model_validate({"strategy": "sections", **keys})


def test_Y18_sizes_are_counted_by_the_model_s_tokens() -> None:
    chunks = cut("料" * 24_000, size={"unit": "tokens", "target": 100, "max": 100})
    assert max(chunk.tokens for chunk in chunks) <= 100


def test_Y28_Y29_words_and_graphemes_are_not_cut_and_no_runt_is_left() -> None:
    chunks = cut("ab\t" * 300, size={"target": 100, "max": 130})
    assert all(chunk.text.startswith("ab") and chunk.text.endswith("ab") for chunk in chunks)
    assert min(len(chunk.text) for chunk in chunks) >= 30


def test_a_run_is_never_longer_than_the_model_reads() -> None:
    chunks = cut(steps(60), "procedure", 100, size={"target": 300, "max": 400}, steps={"ceiling": 5000})
    assert all(chunk.embed_tokens <= 100 for chunk in chunks)
    assert (chunks[0].cut.step_first, chunks[-1].cut.step_last) == (1, 60)
    assert all(chunk.text.split(".")[0].isdigit() for chunk in chunks)


PIECES = st.sampled_from(
    ["# One\n\n", "## Two\n\n", "1. a step\n", "2. a step\n", "3. one\n", "   a. sub\n", "A sentence. ", "\n\n",
     "   WARNING: hot\n\n", "WARNING: wet\n\n", "- item\n", "x" * 30, "```\n1. no\n```\n", "| 1 | a |\n", "| 2 | b |\n"]
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(
    st.lists(PIECES, max_size=40).map("".join), st.integers(1, 60), st.integers(0, 60), st.integers(0, 60),
    st.one_of(st.none(), st.integers(5, 20)),
)  # fmt: skip
def test_every_text_is_cut_into_lawful_chunks(
    text: str, target: int, more: int, above: int, max_tokens: int | None
) -> None:
    size = {"target": target, "max": target + more}
    chunks = cut(text, "procedure", max_tokens, size=size, steps={"ceiling": target + more + above})
    ends = [0, *(chunk.cut.end for chunk in chunks)]
    assert all(before <= chunk.cut.start for before, chunk in zip(ends, chunks, strict=False))
    assert all(chunk.text.strip() for chunk in chunks)
    assert all(len(chunk.text) <= target + more for chunk in chunks if chunk.cut.step_total is None)
    assert all(len(chunk.text) <= target + more + above for chunk in chunks)
    assert "".join("".join(texts(chunks)).split()) == "".join(text.split())

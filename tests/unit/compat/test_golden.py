"""The compat modes against what the four systems did: every case of the folder, compared as a whole.

The folder is `tests/data/golden`, or the one that `PARQUETRY_GOLDEN` names; further cases of the same
kinds can be put there. An expectation is never looked at by the code under test.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from transforms.chunkers.compat.mindnet import (
    MindnetSettings,
    NoteChunk,
    Segment,
    carry_over,
    chunk_id,
    heading_chunks,
    section_sentences,
    window_chunks,
)
from transforms.chunkers.compat.notes import NoteBlock, parse_note
from transforms.chunkers.compat.rag import (
    RagChunk,
    RagSettings,
    group_sentences,
    semantic_chunks,
    semantic_groups,
    split_sentences,
)
from transforms.chunkers.compat.replypier import (
    Page,
    needs_chunk_id,
    page_chunks,
    page_of,
    recorded_title,
    split_text,
    used_title,
)
from transforms.chunkers.compat.sentences import SPLITTERS, Sentence
from transforms.chunkers.compat.yau import (
    PAGE,
    YauSettings,
    chunk_raw,
    chunk_sections,
    has_step,
    linked_equipment,
    split_sections,
)
from transforms.chunkers.compat.yau_header import parse_date, read_header
from transforms.model.document import BlockKind

REPO = Path(__file__).parents[3]
FOLDER = Path(os.environ.get("PARQUETRY_GOLDEN") or REPO / "tests" / "data" / "golden")
Case = dict[str, Any]


def _cases() -> list[Case]:
    return [
        case
        for path in sorted(FOLDER.glob("*.json"))
        for case in json.loads(path.read_text(encoding="utf-8"))["cases"]
    ]


CASES = _cases()


def golden(*kinds: str, seed: str | None = None) -> pytest.MarkDecorator:
    """Parametrise a test with the cases of these kinds; skip it with a reason where there are none."""
    chosen = [
        pytest.param(case, id=case["id"])
        for case in CASES
        if case["kind"] in kinds and seed in (None, case["seed"])
    ]
    missing = pytest.param({}, id="none", marks=pytest.mark.skip(f"no case of {kinds} in {FOLDER}"))
    return pytest.mark.parametrize("case", chosen or [missing])


def _match(source: str, text: str, span: tuple[int, int] | None) -> Case:
    if span is None:
        return {"start": None, "end": None, "match": "none"}
    start, end = span
    return {"start": start, "end": end, "match": "verbatim" if source[start:end] == text else "whitespace"}


def test_golden_files_hold_no_unknown_kind() -> None:
    known = {
        "chunk_page", "split_text", "page_id_of", "split_documents", "sections", "raw", "header", "date",
        "equipment", "steps", "by_heading", "sliding_window",
    }  # fmt: skip
    assert {case["kind"] for case in CASES} <= known


# replypier


@golden("chunk_page")
def test_a_page_is_cut_as_recorded(case: Case) -> None:
    given = case["input"]
    page = Page(given["text"] or "", given["id"], given["name"], given["meta_data"])
    if "error" in case["expected"]:
        with pytest.raises(ValueError, match="size"):
            page_chunks(page, **case["params"])
        return
    chunks = page_chunks(page, **case["params"])
    assert {
        "unchanged": any(chunk.unchanged for chunk in chunks),
        "title_used": used_title(page),
        "title_recorded": recorded_title(page.metadata),
        "chunks": [
            {
                "index": index,
                "id": chunk.id,
                "name": chunk.name,
                "text": chunk.text,
                "embed_text": chunk.embed_text,
                "metadata": chunk.metadata,
                "page_id": None if chunk.id is None else page_of(chunk.id),
                **_match(page.text, chunk.text, (chunk.start, chunk.end)),
            }
            for index, chunk in enumerate(chunks)
        ],
    } == case["expected"]


@golden("split_text")
def test_a_text_is_split_as_recorded(case: Case) -> None:
    text = case["input"]["text"]
    if "error" in case["expected"]:
        with pytest.raises(ValueError, match="size"):
            split_text(text, case["params"]["size"])
        return
    assert [
        {"index": index, "text": text[start:end], **_match(text, text[start:end], (start, end))}
        for index, (start, end) in enumerate(split_text(text, case["params"]["size"]))
    ] == case["expected"]["chunks"]


@golden("page_id_of")
def test_page_ids_are_parsed_as_recorded(case: Case) -> None:
    assert [
        {"id": given, "page_id": page_of(given), "needs_explicit_chunk_id": needs_chunk_id(given)}
        for given in case["input"]["ids"]
    ] == case["expected"]["results"]


# rag


def _bag_of_words(texts: list[str]) -> list[list[float]]:
    vectors = np.zeros((len(texts), 64))
    for vector, text in zip(vectors, texts, strict=True):
        for word in re.findall(r"\w+", text.lower()):
            vector[zlib.crc32(word.encode("utf-8", "surrogatepass")) % 64] += 1
    return vectors.tolist()


@pytest.fixture(scope="session")
def wordllama() -> Any:
    """The model as its package ships it, one text a call."""
    package = pytest.importorskip("wordllama", reason="needs wordllama==0.4.0.post1")
    folder = Path(package.__file__).parent
    model = package.WordLlama.load(cache_dir=folder, disable_download=True)
    return lambda texts: [model.embed([text])[0].tolist() for text in texts]


def _embedder(case: Case, request: pytest.FixtureRequest) -> Any:
    if case["params"]["embedder"] == "bow":
        return _bag_of_words
    return request.getfixturevalue("wordllama")


def _rag_settings(case: Case) -> RagSettings:
    given = case["params"]
    separators = {"separators": tuple(given["separators"])} if given["separators"] else {}
    return RagSettings(given["chunk_size"], given["chunk_overlap"], given["percentile"], **separators)


def _rag_run(case: Case, embed: Any) -> list[list[RagChunk]]:
    settings = _rag_settings(case)
    return [semantic_chunks(each["text"], settings, embed) for each in case["input"]["documents"]]


@golden("split_documents")
def test_semantic_chunks_are_as_recorded(case: Case, request: pytest.FixtureRequest) -> None:
    embed = _embedder(case, request)
    documents = case["input"]["documents"]
    if "error" in case["expected"]:
        with pytest.raises(ValueError, match=r"chunk_size|chunk_overlap|[Pp]ercentile"):
            _rag_run(case, embed)
        return
    found = [
        {
            "document": number,
            "text": chunk.text,
            "embed_text": chunk.text,
            "metadata": documents[number]["metadata"],
            "semantic_group": chunk.group,
            "fallback": chunk.fallback,
            **_match(documents[number]["text"], chunk.text, chunk.span),
        }
        for number, chunks in enumerate(_rag_run(case, embed))
        for chunk in chunks
    ]
    assert [{"index": index, **chunk} for index, chunk in enumerate(found)] == case["expected"]["chunks"]


@golden("split_documents")
def test_sentences_distances_and_groups_are_as_recorded(case: Case, request: pytest.FixtureRequest) -> None:
    if "error" in case["expected"]:
        pytest.skip("the case is refused")
    embed = _embedder(case, request)
    for expected in case["expected"]["semantic"]:
        text = case["input"]["documents"][expected["document"]]["text"]
        found = semantic_groups(text, case["params"]["percentile"], embed)
        assert [list(span) for span in found.sentences] == expected["sentences"]
        assert [list(span) for span in found.groups] == expected["groups"]
        assert found.distances == pytest.approx(expected["distances"] or [], abs=1e-6)
        assert found.threshold == pytest.approx(expected["threshold"], abs=1e-6)


@golden("split_documents")
def test_recorded_distances_give_the_recorded_groups(case: Case) -> None:
    if "error" in case["expected"]:
        pytest.skip("the case is refused")
    for expected in case["expected"]["semantic"]:
        text = case["input"]["documents"][expected["document"]]["text"]
        assert [list(span) for span in split_sentences(text)] == expected["sentences"]
        distances = expected["distances"]
        if distances:
            threshold = float(np.percentile(distances, case["params"]["percentile"]))
            groups = group_sentences(distances, threshold)
            assert [list(span) for span in groups] == expected["groups"]


# yau


def _yau_header(text: str) -> Case:
    header = asdict(read_header(text))
    dated = header["effective_date"]
    return header | {"effective_date": dated.isoformat() if dated else None}


@golden("sections", "raw")
def test_sections_are_cut_as_recorded(case: Case) -> None:
    given, params = case["input"], case["params"]
    text = given["text"]
    settings = YauSettings(params["target"], params["max"], params["doc_type"])
    is_raw = case["kind"] == "raw"
    chunks = chunk_raw(text, settings) if is_raw else chunk_sections(text, settings)
    found: Case = {
        "header": _yau_header(text),
        "chunks": [
            {
                "index": index,
                "section": chunk.section,
                "page": None if is_raw else PAGE,
                "section_title": chunk.section_title,
                "text": chunk.text,
                "embed_text": chunk.text,
                "approx_tokens": chunk.approx_tokens,
                "equipment_id": linked_equipment(chunk.text, given["equipment_ids"]),
                **_match(text, chunk.text, chunk.span),
            }
            for index, chunk in enumerate(chunks)
        ],
    }
    if not is_raw:
        found["sections"] = [
            {
                "page": PAGE,
                "title": section.title,
                "text": section.body.text,
                **_match(text, section.body.text, section.span),
            }
            for section in split_sections(text)
        ]
    assert found == case["expected"]


@golden("header")
def test_a_header_is_read_as_recorded(case: Case) -> None:
    assert _yau_header(case["input"]["text"]) == case["expected"]["header"]


@golden("date")
def test_dates_are_read_as_recorded(case: Case) -> None:
    found = [(text, parse_date(text)) for text in case["input"]["texts"]]
    assert [{"text": text, "date": day.isoformat() if day else None} for text, day in found] == case[
        "expected"
    ]["results"]


@golden("equipment")
def test_equipment_is_linked_as_recorded(case: Case) -> None:
    assert [
        {**given, "linked": linked_equipment(given["text"], given["equipment_ids"])}
        for given in case["input"]["cases"]
    ] == case["expected"]["results"]


@golden("steps")
def test_steps_are_told_as_recorded(case: Case) -> None:
    assert [{"text": text, "has_step": has_step(text)} for text in case["input"]["texts"]] == case[
        "expected"
    ]["results"]


# mindnet


def _blocks(case: Case) -> list[NoteBlock]:
    return [
        NoteBlock(
            BlockKind(block["kind"]),
            block["start"],
            block["end"],
            block["level"],
            block["section_title"],
            block["section_path"],
        )
        for block in case["input"]["blocks"]
    ]


def _mindnet_settings(case: Case) -> MindnetSettings:
    given = {key: value for key, value in case["params"].items() if key != "sentences"}
    if isinstance(given.get("overlap"), list):
        given["overlap"] = tuple(given["overlap"])
    return MindnetSettings(**given)


def _note_chunks(case: Case, blocks: list[NoteBlock]) -> list[NoteChunk]:
    given, settings = case["input"], _mindnet_settings(case)
    if case["kind"] == "sliding_window":
        return window_chunks(given["text"], blocks, given["context_prefix"], settings)
    split = SPLITTERS[case["params"]["sentences"]]
    return heading_chunks(given["text"], blocks, given["doc_title"], settings, split)


def _as_expected(case: Case, index: int, chunk: NoteChunk) -> Case:
    source = case["input"]["text"]
    match = _match(source, chunk.text, chunk.span)
    if any(segment.role != "body" for segment in chunk.segments):
        match["match"] = "composed"
    return {
        "index": index,
        "id": chunk_id(case["input"]["note_id"], index),
        "note_id": case["input"]["note_id"],
        "text": chunk.text,
        "embed_text": chunk.embed_text,
        "token_count": chunk.token_count,
        "section_title": chunk.section_title,
        "section_path": chunk.section_path,
        "neighbors_prev": None,
        "neighbors_next": None,
        **match,
        "blocks": list(chunk.blocks) or None,
        "segments": [
            {"role": segment.role, "start": segment.start, "end": segment.end} for segment in chunk.segments
        ]
        or None,
    }


@golden("by_heading", "sliding_window")
def test_a_note_is_cut_as_recorded_from_the_blocks_given(case: Case) -> None:
    chunks = _note_chunks(case, _blocks(case))
    found = [_as_expected(case, index, chunk) for index, chunk in enumerate(chunks)]
    assert found == case["expected"]["chunks"]


@golden("by_heading", "sliding_window")
def test_a_note_is_cut_as_recorded_from_blocks_parsed_here(case: Case) -> None:
    assert parse_note(case["input"]["text"]) == _blocks(case)


@golden("by_heading")
def test_sentences_of_a_note_are_as_recorded(case: Case) -> None:
    split = SPLITTERS[case["params"]["sentences"]]
    for section in case["expected"]["oversize_sections"]:
        found = section_sentences(case["input"]["text"], _blocks(case), section["blocks"], split)
        assert [[sentence.start, sentence.end] for sentence in found] == section["sentences"]


@golden("by_heading")
def test_a_note_is_split_as_recorded_from_the_sentences_given(case: Case) -> None:
    source, blocks = case["input"]["text"], _blocks(case)
    found = []
    for section in case["expected"]["oversize_sections"]:
        first = blocks[section["blocks"][0]]
        heading = None
        if first.kind is BlockKind.HEADING:
            heading = Segment("header", first.start, first.end, source[first.start : first.end])
        sentences = [
            Sentence(start, end, " ".join(source[start:end].split()))
            if case["params"]["sentences"] == "flat"
            else Sentence(start, end, source[start:end])
            for start, end in section["sentences"]
        ]
        found += carry_over(sentences, heading, _mindnet_settings(case))
    assert [" ".join(segment.text for segment in segments) for segments in found] == [
        chunk["text"] for chunk in case["expected"]["chunks"] if chunk["segments"]
    ]

"""What holds for every text and every setting of the compat modes, and what the plainest code would do."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.chunkers.compat.mindnet import (
    MindnetSettings,
    estimate,
    heading_chunks,
    window_chunks,
)
from transforms.chunkers.compat.notes import parse_note
from transforms.chunkers.compat.rag import (
    DEFAULT_SEPARATORS,
    RagSettings,
    group_sentences,
    semantic_chunks,
    split_oversize,
    window_distances,
)
from transforms.chunkers.compat.replypier import Page, page_chunks, page_of, split_text
from transforms.chunkers.compat.sentences import SPLITTERS, para_sentences
from transforms.chunkers.compat.spans import universal_lines
from transforms.chunkers.compat.yau import YauSettings, chunk_raw, chunk_sections, has_step, split_sections

EXAMPLES = settings(max_examples=60, deadline=None)

TEXTS = st.lists(
    st.sampled_from(
        [
            *(
                "a",
                "bb",
                "word",
                "x" * 17,
                " ",
                "  ",
                "\n",
                "\n\n",
                "\r\n",
                "\t",
                "\u3000",
                "\u2028",
                "\x0c",
            ),
            *(". ", ".", "! ", "。", "»", "z. B. ", "👍🏽", "# ", "## H\n", "\n### Sub\n\n", "```\n"),
            *("| a |\n", "- item\n", "1. step\n", "Step 2"),
        ]
    ),
    max_size=60,
).map("".join)
SIZES = st.integers(1, 40)


def _ink(text: str) -> str:
    return "".join(text.split())


# replypier


@EXAMPLES
@given(TEXTS, SIZES)
def test_pieces_are_gapless_and_in_order_and_as_long_as_they_should_be(text: str, size: int) -> None:
    pieces = split_text(text, size)
    assert "".join(text[start:end] for start, end in pieces) == text
    assert [start for start, _ in pieces[1:]] == [end for _, end in pieces[:-1]]
    assert all(1 <= end - start <= size for start, end in pieces)
    assert all(end - start > 3 * size // 10 for start, end in pieces[:-1])


@EXAMPLES
@given(TEXTS, SIZES)
def test_pieces_are_those_of_the_rule_read_out_word_for_word(text: str, size: int) -> None:
    def plain(rest: str) -> list[str]:
        if len(rest) <= size:
            return [rest] if rest else []
        window = rest[:size]
        for separator in ("\n\n", "\n", ". ", " "):
            place = window.rfind(separator)
            if place >= math.floor(0.3 * size) and place >= 0:
                cut = place + len(separator)
                break
        else:
            cut = size
        return [rest[:cut], *plain(rest[cut:])]

    assert [text[start:end] for start, end in split_text(text, size)] == plain(text)


@EXAMPLES
@given(TEXTS, SIZES, st.integers(-3, 50))
def test_a_chunk_embeds_the_end_of_the_piece_before_it(text: str, size: int, overlap: int) -> None:
    chunks = page_chunks(Page(text, "p_1", None, {"title": "T"}), size, overlap)
    for before, chunk in pairwise(chunks):
        tail = before.text[-overlap:] if overlap > 0 else ""
        assert chunk.embed_text == f"T\n{tail}{chunk.text}"
    assert [page_of(chunk.id or "") for chunk in chunks] == ["p_1"] * len(chunks)


def test_an_id_loses_its_number_once_and_keeps_a_line_end() -> None:
    assert [page_of(name) for name in ("a::1::2", "a_1::2", "a::x", "a_١", "a::1\n", "_5")] == [
        "a::1", "a_1", "a::x", "a", "a\n", "",
    ]  # fmt: skip


# rag


def _plain_split(text: str, size: int, overlap: int, separators: list[str]) -> list[str]:
    """The size guard on strings: the reading of its rules that needs no positions."""
    separator = next((s for s in separators if s in text), separators[-1])
    finer = separators[separators.index(separator) + 1 :] if separator and separator in text else []
    if separator:
        pieces = re.split(f"(?={re.escape(separator)})", text) if separator != "\n\n" else None
        if pieces is None:
            parts = text.split(separator)
            pieces = [parts[0], *(separator + part for part in parts[1:])]
    else:
        pieces = list(text)
    chunks: list[str] = []
    small: list[str] = []
    for piece in filter(None, pieces):
        if len(piece) < size:
            small.append(piece)
            continue
        chunks += _plain_merge(small, size, overlap)
        small = []
        chunks += _plain_split(piece, size, overlap, finer) if finer else [piece]
    return chunks + _plain_merge(small, size, overlap)


def _plain_merge(pieces: list[str], size: int, overlap: int) -> list[str]:
    chunks: list[str] = []
    window: list[str] = []
    for piece in pieces:
        if window and len("".join(window)) + len(piece) > size:
            chunks.append("".join(window).strip())
            while len("".join(window)) > overlap or (window and len("".join(window)) + len(piece) > size):
                window.pop(0)
        window.append(piece)
    return [chunk for chunk in [*chunks, "".join(window).strip()] if chunk]


@EXAMPLES
@given(TEXTS, SIZES, st.integers(0, 40), st.sampled_from([DEFAULT_SEPARATORS, ("\n\n", "\n"), (". ", " ")]))
def test_the_size_guard_equals_its_rules_on_strings(
    text: str, size: int, overlap: int, separators: tuple[str, ...]
) -> None:
    chosen = RagSettings(size, min(overlap, size), 95, separators)
    found = [text[start:end] for start, end in split_oversize(text, chosen)]
    if len(text) > size:
        assert found == _plain_split(text, size, min(overlap, size), list(separators))
    else:
        assert found == [text]


def _lengths(texts: list[str]) -> list[list[float]]:
    return [[len(text), text.count("a"), text.count("."), 1.0] for text in texts]


@EXAMPLES
@given(TEXTS, SIZES, st.integers(0, 100))
def test_chunks_by_meaning_lose_no_ink_and_hold_their_size(text: str, size: int, percentile: int) -> None:
    chunks = semantic_chunks(text, RagSettings(size, 0, percentile), _lengths)
    assert _ink("".join(chunk.text for chunk in chunks)) == _ink(text)
    assert all(len(chunk.text) <= size for chunk in chunks)
    assert all(_ink(text[slice(*chunk.span)]) == _ink(chunk.text) for chunk in chunks)


def test_two_sentences_are_never_parted_and_percentile_100_never_parts() -> None:
    def groups(distances: list[float], percentile: float) -> list[tuple[int, int]]:
        return group_sentences(distances, float(np.percentile(distances, percentile)))

    assert groups([0.7], 0) == [(0, 2)]
    assert groups([0.1, 0.9, 0.4], 100) == [(0, 4)]
    assert groups([0.1, 0.9], 99) == [(0, 2), (2, 3)]
    assert groups([0.5, 0.5], 50) == [(0, 3)]


def test_a_window_without_a_direction_is_at_distance_one() -> None:
    assert window_distances(np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 2.0], [0.0, 5.0]])) == [1.0, 1.0, 0.0]


# yau


@EXAMPLES
@given(TEXTS, st.integers(1, 12), st.integers(0, 8), st.sampled_from(["procedure", "policy"]))
def test_no_chunk_of_a_section_is_over_the_ceiling_and_no_ink_of_its_lines_is_lost(
    text: str, target: int, more: int, doc_type: str
) -> None:
    chosen = YauSettings(target, target + more, doc_type)
    sections = split_sections(text)
    chunks = chunk_sections(text, chosen)
    assert all(chunk.approx_tokens <= target + more for chunk in chunks)
    for place, section in enumerate(sections):
        texts = [chunk.text for chunk in chunks if chunk.section == place]
        assert _ink("".join(texts)) == _ink(section.body.text)
    for chunk in chunk_raw(text, chosen):
        assert _ink(chunk.text) == (_ink(text[slice(*chunk.span)]) if chunk.span else "")


@EXAMPLES
@given(TEXTS)
def test_lines_and_steps_are_those_of_the_standard_library(text: str) -> None:
    assert [text[start:end] for start, end in universal_lines(text)] == text.splitlines()
    plain = re.search(r"^\s*(?:\d+\.|\(\d+\)|step\s+\d+)", text, re.MULTILINE | re.IGNORECASE)
    assert has_step(text) is (plain is not None)


# mindnet


@EXAMPLES
@given(TEXTS)
def test_blocks_and_sentences_are_in_order_and_hold_all_ink(text: str) -> None:
    for parts in (parse_note(text), para_sentences(text)):
        spans = [(part.start, part.end) for part in parts]
        assert all(before[1] <= after[0] for before, after in pairwise(spans))
        assert all(start < end for start, end in spans)
        assert _ink("".join(text[a:b] for a, b in spans)) == _ink(text)
    assert all(text[s.start : s.end] == s.text == s.text.strip() for s in para_sentences(text))


@EXAMPLES
@given(TEXTS, st.integers(1, 20), st.integers(0, 20), st.integers(0, 15), st.sampled_from(["para", "flat"]))
def test_packed_sections_hold_the_maximum_and_new_text_is_the_note(
    text: str, target: int, more: int, overlap: int, style: str
) -> None:
    blocks = parse_note(text)
    chosen = MindnetSettings(target, target + more, 2, strict_heading_split=False, overlap=overlap)
    chunks = heading_chunks(text, blocks, "Doc", chosen, SPLITTERS[style])
    assert all(chunk.token_count <= chosen.max for chunk in chunks if chunk.blocks)
    assert all(chunk.token_count == estimate(chunk.text) for chunk in chunks)
    assert _ink("".join(text[slice(*chunk.span)] for chunk in chunks if chunk.span)) == _ink(text)
    spans = [chunk.span for chunk in chunks if chunk.span]
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


@EXAMPLES
@given(TEXTS, st.integers(1, 30))
def test_windows_hold_every_block_once(text: str, most: int) -> None:
    blocks = parse_note(text)
    windows = window_chunks(text, blocks, "", MindnetSettings(max=most))
    assert [place for window in windows for place in window.blocks] == list(range(len(blocks)))
    assert all(window.embed_text == window.text for window in windows)


def test_sentences_do_not_end_at_list_numbers_and_initials() -> None:
    text = "1. Open it. Then z. B. this (so.) Next… “Yes.” No。はい！ End\n\n12. Last"
    assert [sentence.text for sentence in para_sentences(text)] == [
        "1. Open it.", "Then z. B. this (so.)", "Next…", "“Yes.”", "No。", "はい！", "End", "12. Last",
    ]  # fmt: skip


def test_a_fence_hides_headings_and_ends_at_its_own_mark_only() -> None:
    text = "# A #\n~~~~\n# no\n~~~\n```\n~~~~~\n## B\n- x\n  y\n| t |\n| u |\nz\n"
    assert [
        (block.kind.value, block.section_path, text[block.start : block.end]) for block in parse_note(text)
    ] == [
        ("heading", "/A", "# A #"),
        ("code", "/A", "~~~~\n# no\n~~~\n```\n~~~~~"),
        ("heading", "/A/B", "## B"),
        ("list", "/A/B", "- x\n  y"),
        ("table", "/A/B", "| t |\n| u |"),
        ("paragraph", "/A/B", "z"),
    ]

"""The fourth system: sections of a note packed with a look-ahead, or a window over its blocks.

It worked on blocks and sentences from elsewhere; :mod:`notes` and :mod:`sentences` stand in for them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from transforms.chunkers.compat.notes import NoteBlock
from transforms.chunkers.compat.sentences import Sentence, Splitter
from transforms.chunkers.compat.spans import Joined, Span, located
from transforms.model.document import BlockKind

BLOCK_GLUE = "\n\n"
CHARACTERS_A_TOKEN = 2.8

Role: TypeAlias = Literal["body", "overlap", "header"]


@dataclass(frozen=True, slots=True)
class MindnetSettings:
    """Sizes in estimated tokens. The window reads ``max`` only."""

    target: int = 400
    max: int = 600
    split_level: int = 2
    strict_heading_split: bool = False
    overlap: int | tuple[int, ...] = (50, 80)
    """A pair counts as half its sum, rounded down."""

    @property
    def overlap_size(self) -> int:
        """The overlap as one number."""
        return self.overlap if isinstance(self.overlap, int) else sum(self.overlap) // 2


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a split section's chunk: new text, a sentence carried over, or the injected heading."""

    role: Role
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class NoteChunk:
    """A chunk as the system stored it, and what it embedded.

    ``span`` is that of the new text: what was carried over and the injected heading are outside.
    """

    text: str
    embed_text: str
    token_count: int
    span: Span | None
    section_title: str | None
    section_path: str
    blocks: tuple[int, ...] = ()
    """Places of the blocks of a packed chunk."""
    segments: tuple[Segment, ...] = ()
    """The parts of a split section's chunk, in the order of its text."""


def estimate(text: str) -> int:
    """2.8 characters of the trimmed text a token, rounded up, at least one."""
    return max(1, math.ceil(len(text.strip()) / CHARACTERS_A_TOKEN))


def chunk_id(note_id: str, index: int) -> str:
    """The id of the chunk at ``index``, from 0."""
    return f"{note_id}#c{index:02d}"


def heading_chunks(
    text: str, blocks: Sequence[NoteBlock], title: str, settings: MindnetSettings, split: Splitter
) -> list[NoteChunk]:
    """Pack whole sections up to the target; a section over the maximum is cut at sentences instead."""
    chunks = []
    buffer: list[int] = []
    total = 0
    for section in note_sections(blocks, settings.split_level):
        size = estimate(_joined(text, blocks, section).text)
        if buffer and _is_full(total, size, blocks[section[0]], settings):
            chunks.append(_packed(text, blocks, buffer, title))
            buffer, total = [], 0
        if size > settings.max:
            chunks += _split_section(text, blocks, section, title, settings, split)
        else:
            buffer += section
            total += size + len(BLOCK_GLUE)
    return [*chunks, _packed(text, blocks, buffer, title)] if buffer else chunks


def note_sections(blocks: Sequence[NoteBlock], split_level: int) -> list[list[int]]:
    """Places of blocks by section: a heading of ``split_level`` or above begins one."""
    sections: list[list[int]] = []
    for place, block in enumerate(blocks):
        if not sections or (block.level is not None and block.level <= split_level):
            sections.append([])
        sections[-1].append(place)
    return sections


def _is_full(total: int, size: int, first: NoteBlock, settings: MindnetSettings) -> bool:
    strict = settings.strict_heading_split and first.level == settings.split_level
    return total + size > settings.max or total >= settings.target or strict


def window_chunks(
    text: str, blocks: Sequence[NoteBlock], prefix: str, settings: MindnetSettings
) -> list[NoteChunk]:
    """Pack blocks up to the maximum by the sum of their estimates; a larger block goes out whole."""
    windows: list[list[int]] = []
    totals: list[int] = []
    for place, block in enumerate(blocks):
        size = estimate(text[block.start : block.end])
        if windows and totals[-1] + size <= settings.max:
            windows[-1].append(place)
            totals[-1] += size
        else:
            windows.append([place])
            totals.append(size)
    chunks = [
        _block_chunk(text, blocks, window, prefix, tokens)
        for window, tokens in zip(windows[:-1], totals, strict=False)
    ]
    return [*chunks, _block_chunk(text, blocks, windows[-1], prefix)] if windows else chunks


def _packed(text: str, blocks: Sequence[NoteBlock], places: Sequence[int], title: str) -> NoteChunk:
    return _block_chunk(text, blocks, places, breadcrumb(title, blocks[places[0]].section_title))


def _block_chunk(
    text: str, blocks: Sequence[NoteBlock], places: Sequence[int], prefix: str, tokens: int | None = None
) -> NoteChunk:
    first, last = blocks[places[0]], blocks[places[-1]]
    stored = _joined(text, blocks, places).text
    return NoteChunk(
        text=stored,
        embed_text=embedded(prefix, stored),
        token_count=estimate(stored) if tokens is None else tokens,
        span=located(text, stored, first.start, last.end),
        section_title=first.section_title,
        section_path=first.section_path,
        blocks=tuple(places),
    )


def breadcrumb(title: str, section_title: str | None) -> str:
    """The document's title, then the section's unless it is the same."""
    return " > ".join(part for part in dict.fromkeys((title, section_title)) if part)


def embedded(prefix: str, text: str) -> str:
    """The prefix above the text, trimmed; the text as it is if there is none."""
    return f"{prefix}\n{text}".strip() if prefix else text


def _joined(text: str, blocks: Sequence[NoteBlock], places: Iterable[int]) -> Joined:
    return Joined(text, [(blocks[place].start, blocks[place].end) for place in places], BLOCK_GLUE)


def _split_section(
    text: str,
    blocks: Sequence[NoteBlock],
    section: Sequence[int],
    title: str,
    settings: MindnetSettings,
    split: Splitter,
) -> list[NoteChunk]:
    first = blocks[section[0]]
    heading = None
    if first.kind is BlockKind.HEADING:
        heading = Segment("header", first.start, first.end, text[first.start : first.end])
    sentences = section_sentences(text, blocks, section, split)
    prefix = breadcrumb(title, first.section_title)
    chunks = []
    for segments in carry_over(sentences, heading, settings):
        stored = " ".join(segment.text for segment in segments)
        body = [segment for segment in segments if segment.role == "body"]
        fresh = " ".join(segment.text for segment in body)
        chunks.append(
            NoteChunk(
                text=stored,
                embed_text=embedded(prefix, stored),
                token_count=estimate(stored),
                span=located(text, fresh, body[0].start, body[-1].end),
                section_title=first.section_title,
                section_path=first.section_path,
                segments=segments,
            )
        )
    return chunks


def section_sentences(
    text: str, blocks: Sequence[NoteBlock], section: Sequence[int], split: Splitter
) -> list[Sentence]:
    """The sentences of a section's blocks taken together, with their spans in the source."""
    joined = _joined(text, blocks, section)
    return [
        Sentence(joined.origin(found.start), joined.origin(found.end - 1) + 1, found.text)
        for found in split(joined.text)
    ]


def carry_over(
    sentences: Sequence[Sentence], heading: Segment | None, settings: MindnetSettings
) -> Iterator[tuple[Segment, ...]]:
    """Sentences up to the target; each chunk after the first begins with the end of the one before.

    The length counts the sentences alone. What is carried may itself have been carried before.
    """
    running: list[Segment] = []
    length = 0
    for sentence in sentences:
        size = estimate(sentence.text)
        if running and length + size > settings.target:
            yield tuple(running)
            running, length = _carried(running, heading, settings.overlap_size)
        running.append(Segment("body", sentence.start, sentence.end, sentence.text))
        length += size
    if running:
        yield tuple(running)


def _carried(before: Sequence[Segment], heading: Segment | None, overlap: int) -> tuple[list[Segment], int]:
    """The heading and the last sentences under the overlap, and their length.

    With a heading each sentence goes in just before the last element as counted before the insertion, so
    they come out in reverse and the heading last; without one they keep their order.
    """
    carried = [heading] if heading else []
    length = estimate(heading.text) if heading else 0
    for segment in reversed(before):
        if heading and segment.text == heading.text:
            continue
        size = estimate(segment.text)
        if length + size >= overlap:
            break
        carried.insert(len(carried) - 1 if heading else 0, _as_overlap(segment))
        length += size
    return carried, length


def _as_overlap(segment: Segment) -> Segment:
    return Segment("overlap", segment.start, segment.end, segment.text)

"""A chunk: a span of the canonical text, how it was cut, and what is embedded for it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class CutKind(StrEnum):
    """How a chunk's span came about."""

    WHOLE = "whole"
    """The document, section or record as it is."""
    PACKED = "packed"
    """Several pieces put together up to the target."""
    SPLIT = "split"
    """Part of something too large, cut at a break."""
    PROTECTED = "protected"
    """A run of steps kept whole beyond the target."""
    OVER_CEILING = "over_ceiling"
    """Part of a run of steps that even its ceiling did not hold."""
    HARD = "hard"
    """Cut by the guard where no break was left."""


class Cut(NamedTuple):
    """What a strategy chooses: a span, and the facts that only the strategy knows of it.

    Strategies choose spans; text, ids, sections, pages and embedded text follow from them. A tuple with names,
    because there are millions and a frozen dataclass takes four times as long to make.
    """

    start: int
    end: int
    kind: CutKind
    semantic_group: int | None = None
    distance_before: float | None = None
    distance_after: float | None = None
    step_first: int | None = None
    step_last: int | None = None
    step_total: int | None = None
    context_start: int | None = None
    """Where a strategy carries context of its own; else the composer chooses the overlap."""
    context_end: int | None = None
    warnings: tuple[str, ...] = ()


class Chunk(NamedTuple):
    """One chunk, complete but for its vector.

    ``text == document.text[start:end]``, always. ``tokens`` counts ``text`` by ``counter``;
    ``embed_tokens`` counts ``embed_text`` in the model's tokens.
    """

    cut: Cut
    text: str
    tokens: int
    counter: str
    embed_text: str
    embed_tokens: int
    section_title: str | None = None
    section_path: tuple[str, ...] = ()
    section_level: int | None = None
    section_titles: tuple[str, ...] = ()
    breadcrumb: str | None = None
    page_start: int | None = None
    page_end: int | None = None
    context_start: int | None = None
    context_end: int | None = None
    context_after_start: int | None = None
    context_after_end: int | None = None
    entity_mentions: tuple[str, ...] = ()
    entity_id: str | None = None
    warnings: tuple[str, ...] = ()

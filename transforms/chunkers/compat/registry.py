"""The systems by name: a document to the cuts that each made, with the text that each embedded for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from transforms.chunkers.compat import mindnet, rag, replypier, yau
from transforms.chunkers.compat.notes import parse_note
from transforms.chunkers.compat.sentences import para_sentences
from transforms.chunkers.settings import BREAKS
from transforms.compose import document_title
from transforms.model.chunk import Cut, CutKind

if TYPE_CHECKING:
    from transforms.chunkers.compat.presets import Preset
    from transforms.chunkers.compat.spans import Span
    from transforms.chunkers.settings import ChunkSettings
    from transforms.model.document import Document

Embed: TypeAlias = Callable[[Sequence[str]], NDArray[np.float32]]

PDF = "application/pdf"


@dataclass(frozen=True, slots=True)
class CompatCut:
    """A span as a system cut it, and the text that the system embedded for it."""

    cut: Cut
    embed_text: str
    breadcrumb: str | None = None


def compat_cuts(
    preset: Preset, document: Document, name: str, settings: ChunkSettings, embed: Embed | None = None
) -> list[CompatCut]:
    """Where a system would have cut this document, in order; pieces without ink are left out.

    The spans of ``rag`` may overlap, and what ``yau`` read as a heading is in no span: as they did it.

    Raises:
        ValueError: ``rag`` without ``embed``, or a size that the system refused.
    """
    found = _SYSTEMS[preset](document, name, settings, embed)
    return [each for each in found if document.text[each.cut.start : each.cut.end].strip()]


def _replypier(
    document: Document, name: str, settings: ChunkSettings, _embed: Embed | None
) -> list[CompatCut]:
    metadata = {**document.metadata, **({"title": document.title} if document.title else {})}
    page = replypier.Page(document.text, name, name, metadata)
    return [
        CompatCut(
            Cut(
                chunk.start,
                chunk.end,
                CutKind.WHOLE if chunk.unchanged else CutKind.SPLIT,
                context_start=chunk.context[0] if chunk.context else None,
                context_end=chunk.context[1] if chunk.context else None,
            ),
            chunk.embed_text,
        )
        for chunk in replypier.page_chunks(page, settings.size.max, settings.overlap_size)
    ]


def _rag(document: Document, _name: str, settings: ChunkSettings, embed: Embed | None) -> list[CompatCut]:
    if embed is None:
        raise ValueError("compat rag compares texts: it needs an embedder")
    chosen = rag.RagSettings(
        settings.size.max, settings.overlap_size, settings.semantic.percentile, _separators(settings)
    )
    return [
        CompatCut(
            Cut(
                *chunk.span, CutKind.SPLIT if chunk.fallback else CutKind.PACKED, semantic_group=chunk.group
            ),
            chunk.text,
        )
        for chunk in rag.semantic_chunks(document.text, chosen, embed)
    ]


def _separators(settings: ChunkSettings) -> tuple[str, ...]:
    """The breaks as texts, if there are others than by default."""
    if settings.breaks == BREAKS:
        return rag.DEFAULT_SEPARATORS
    named = {"paragraph": "\n\n", "line": "\n", "sentence": ". ", "word": " ", "grapheme": ""}
    return tuple(named.get(name, name) for name in settings.breaks)


def _yau(document: Document, _name: str, settings: ChunkSettings, _embed: Embed | None) -> list[CompatCut]:
    chosen = yau.YauSettings(
        settings.size.target, settings.size.max, settings.doc_type_of(document.metadata) or ""
    )
    # A PDF came to it as flat text, everything else in sections.
    cut = yau.chunk_raw if document.media_type == PDF else yau.chunk_sections
    return [
        CompatCut(_cut(chunk.span, CutKind.SPLIT), chunk.text, chunk.section_title)
        for chunk in cut(document.text, chosen)
        if chunk.span
    ]


def _mindnet(
    document: Document, name: str, settings: ChunkSettings, _embed: Embed | None
) -> list[CompatCut]:
    title = document_title(document, name, settings).text or ""
    chosen = mindnet.MindnetSettings(
        settings.size.target,
        settings.size.max,
        settings.headings.split_level,
        settings.headings.strict,
        settings.overlap_size,
    )
    text, blocks = document.text, parse_note(document.text)
    if settings.strategy == "window":
        chunks = mindnet.window_chunks(text, blocks, title, chosen)
    else:
        chunks = mindnet.heading_chunks(text, blocks, title, chosen, para_sentences)
    return [
        CompatCut(
            _cut(chunk.span, CutKind.PACKED if chunk.blocks else CutKind.SPLIT),
            chunk.embed_text,
            mindnet.breadcrumb(title, chunk.section_title) or None,
        )
        for chunk in chunks
        if chunk.span
    ]


def _cut(span: Span, kind: CutKind) -> Cut:
    return Cut(span[0], span[1], kind)


_SYSTEMS: dict[Preset, Callable[[Document, str, ChunkSettings, Embed | None], list[CompatCut]]] = {
    "replypier": _replypier,
    "rag": _rag,
    "yau": _yau,
    "mindnet": _mindnet,
}

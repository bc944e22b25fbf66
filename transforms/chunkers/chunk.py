"""Cut one document: the strategy's spans, held to the model's input, with all that follows from them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

from transforms.chunkers.size import Measure, both, in_characters, in_tokens
from transforms.chunkers.verbatim import cut_verbatim
from transforms.compose import (
    BUDGET_CUT,
    Parts,
    breadcrumb,
    compose,
    context_span,
    document_title,
    short_title,
)
from transforms.model.chunk import Chunk, Cut, CutKind
from transforms.structure.outline import Outline
from transforms.structure.sentences import grapheme_spans

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from transforms.chunkers.settings import ChunkSettings
    from transforms.embedders.protocol import TokenCounter
    from transforms.model.document import Document

STRATEGIES = {"verbatim": cut_verbatim}


def chunk_document(
    document: Document,
    name: str,
    settings: ChunkSettings,
    counter: TokenCounter,
    max_tokens: int | None,
    embed: Callable[[Sequence[str]], NDArray[np.float32]] | None = None,  # noqa: ARG001 - none compares yet
) -> list[Chunk]:
    """The document's chunks in order, complete but for their vectors.

    Args:
        document: canonical text and blocks.
        name: the document's id; the title falls back on it.
        settings: of the source.
        counter: counts tokens as the embedder's model does.
        max_tokens: the model's input; no ``embed_text`` is longer. None: no bound.
        embed: for strategies that compare texts.
    """
    measure = _measure(document.text, settings, counter, max_tokens)
    cuts = STRATEGIES[settings.strategy](document, settings, measure)
    if max_tokens is not None:
        cuts = _within(document.text, cuts, counter, max_tokens)
    return _complete(document, name, settings, cuts, measure, counter, max_tokens)


def _measure(text: str, settings: ChunkSettings, counter: TokenCounter, max_tokens: int | None) -> Measure:
    if settings.size.unit == "tokens":
        tokens = in_tokens(text, counter)
        if max_tokens is None or max_tokens >= settings.size.max:
            return tokens
        return both(tokens, settings.size.max, tokens, max_tokens)
    if max_tokens is None:
        return in_characters
    return both(in_characters, settings.size.max, in_tokens(text, counter), max_tokens)


def _within(text: str, cuts: list[Cut], counter: TokenCounter, max_tokens: int) -> list[Cut]:
    """Halve what is still over the model's input: a piece of a word can have more tokens than in the word."""
    counts = counter.count([text[cut.start : cut.end] for cut in cuts])
    if all(count <= max_tokens for count in counts):
        return cuts
    parts: list[Cut] = []
    for cut, count in zip(cuts, counts, strict=True):
        halves = _halves(text, cut) if count > max_tokens else ()
        parts += _within(text, list(halves), counter, max_tokens) if len(halves) > 1 else [cut]
    return parts


def _halves(text: str, cut: Cut) -> tuple[Cut, ...]:
    ends = [end for _, end in grapheme_spans(text, cut.start, cut.end)]
    middle = ends[max(0, len(ends) // 2 - 1)]
    halves = (replace(cut, end=middle, kind=CutKind.HARD), replace(cut, start=middle, kind=CutKind.HARD))
    return tuple(half for half in halves if text[half.start : half.end].strip())


def _complete(
    document: Document,
    name: str,
    settings: ChunkSettings,
    cuts: list[Cut],
    measure: Measure,
    counter: TokenCounter,
    max_tokens: int | None,
) -> list[Chunk]:
    text, outline = document.text, Outline(document.blocks)
    title = short_title(document_title(document, name, settings).text, settings.compose.title.max_chars)
    texts = [text[cut.start : cut.end] for cut in cuts]
    page_starts = [page.start for page in document.pages]
    drafts = []
    for cut, chunk_text, previous in zip(cuts, texts, [None, *cuts], strict=False):
        section = outline.at(cut.start)
        context = context_span(document, previous, cut, outline, settings, measure)
        crumbs = breadcrumb(section, title, chunk_text, settings.compose.breadcrumb)
        carried = text[slice(*context)] if context else ""
        parts = Parts(title, crumbs, carried, chunk_text)
        embed_text, gave_way = compose(parts, settings, lambda one: counter.count([one])[0], max_tokens)
        drafts.append((section, context, crumbs, embed_text, gave_way))
    tokens, embed_tokens = counter.count(texts), counter.count([draft[3] for draft in drafts])
    return [
        Chunk(
            cut=cut,
            text=texts[place],
            tokens=tokens[place],
            counter=counter.name,
            embed_text=embed_text,
            embed_tokens=embed_tokens[place],
            section_title=section.title,
            section_path=section.path,
            section_level=section.level,
            section_titles=outline.titles_within(cut.start, cut.end),
            breadcrumb=crumbs or None,
            page_start=_page(document, page_starts, cut.start),
            page_end=_page(document, page_starts, cut.end - 1),
            context_start=context[0] if context else None,
            context_end=context[1] if context else None,
            warnings=(BUDGET_CUT,) if gave_way else (),
        )
        for place, (cut, (section, context, crumbs, embed_text, gave_way)) in enumerate(
            zip(cuts, drafts, strict=True)
        )
    ]


def _page(document: Document, starts: list[int], position: int) -> int | None:
    """The page that a position lies on; None where the document has no pages."""
    place = bisect_right(starts, position) - 1
    return document.pages[place].number if place >= 0 else None

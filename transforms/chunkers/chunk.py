"""Cut one document: the strategy's spans, held to the model's input, with all that follows from them."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from transforms.chunkers.compat.registry import CompatCut, compat_cuts
from transforms.chunkers.context import Neighbours, Span
from transforms.chunkers.counters import EMBEDDER, size_counter
from transforms.chunkers.entities import Mentions, mentions_in
from transforms.chunkers.guard import guarded, within
from transforms.chunkers.registry import STRATEGIES
from transforms.chunkers.rows import RowTemplate
from transforms.chunkers.size import Measures, Remembering
from transforms.chunkers.tools import Tools
from transforms.compose import (
    BUDGET_CUT,
    Carried,
    Parts,
    breadcrumb,
    compose,
    document_title,
    join,
    short_title,
)
from transforms.model.chunk import Chunk, Cut
from transforms.structure.outline import Outline

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from transforms.chunkers.settings import ChunkSettings
    from transforms.chunkers.size import Measure
    from transforms.embedders.protocol import TokenCounter
    from transforms.model.document import Document
    from transforms.structure.outline import Section


def chunk_document(
    document: Document,
    name: str,
    settings: ChunkSettings,
    counter: TokenCounter,
    max_tokens: int | None,
    embed: Callable[[Sequence[str]], NDArray[np.float32]] | None = None,
) -> list[Chunk]:
    """The document's chunks in order, complete but for their vectors.

    Args:
        document: canonical text and blocks.
        name: how people name the document; the title falls back on it.
        settings: of the source.
        counter: counts tokens as the embedder's model does.
        max_tokens: the model's input; no ``embed_text`` is longer, nor than ``compose.max_tokens``. None: no bound.
        embed: for strategies that compare texts.
    """
    text, outline = document.text, Outline(document.blocks)
    model = Remembering(counter)
    sizer = model
    if settings.compat is None and settings.size.counter != EMBEDDER:
        sizer = Remembering(size_counter(settings.size.counter, counter))
    max_tokens = min(filter(None, (max_tokens, settings.compose.max_tokens)), default=None)
    if settings.compat is not None:
        found = compat_cuts(settings.compat, document, name, settings, embed)
        cuts, drafts = _as_before(document, found, model, max_tokens)
        placed = _placed(text, cuts, outline)
    else:
        measures = Measures(text, settings.size.unit, sizer, max_tokens, model)
        tools = Tools(measures.up_to(settings.size.max), measures, embed)
        cuts = STRATEGIES[settings.strategy](document, settings, tools)
        placed = _placed(text, guarded(text, cuts, settings, sizer, model, max_tokens), outline)
        parts = _parts(document, name, settings, placed, outline, measures)
        drafts = _composed(parts, settings, model, max_tokens)
    return _complete(document, placed, drafts, sizer, mentions_in(settings))


class _Placed(NamedTuple):
    """A cut with its text, and what the outline says of the ink in it."""

    cut: Cut
    text: str
    start: int
    """Of the first ink."""
    end: int
    """Of the last."""
    section: Section
    titles: tuple[str, ...]


def _placed(text: str, cuts: Sequence[Cut], outline: Outline) -> list[_Placed]:
    placed = []
    for cut in cuts:
        start, end = cut.start, cut.end
        chunk_text = text[start:end]
        if chunk_text[0].isspace():
            start = end - len(chunk_text.lstrip())
        if chunk_text[-1].isspace():
            end = cut.start + len(chunk_text.rstrip())
        placed.append(_Placed(cut, chunk_text, start, end, *outline.headings(start, end)))
    return placed


def _as_before(
    document: Document, found: Sequence[CompatCut], counter: TokenCounter, max_tokens: int | None
) -> tuple[list[Cut], list[_Draft]]:
    """The cuts and embedded texts of a system; what the model cannot read is made to fit, and says so."""
    cuts, drafts = [], []
    fits = _fitting([each.embed_text for each in found], counter, max_tokens)
    for each, whole in zip(found, fits, strict=True):
        parts = [each.cut]
        if not whole and max_tokens is not None:
            parts = within(document.text, [each.cut], counter, max_tokens)
        for cut in parts:
            text = each.embed_text if whole else document.text[cut.start : cut.end]
            context = None
            if whole and cut.context_start is not None and cut.context_end is not None:
                context = (cut.context_start, cut.context_end)
            cuts.append(cut)
            drafts.append(_Draft(context, None, each.breadcrumb, text, 0, gave_way=not whole))
    sizes = counter.count([draft.embed_text for draft in drafts])
    return cuts, [draft._replace(embed_tokens=size) for draft, size in zip(drafts, sizes, strict=True)]


def _fitting(texts: list[str], counter: TokenCounter, max_tokens: int | None) -> list[bool]:
    if max_tokens is None:
        return [True] * len(texts)
    return [count <= max_tokens for count in counter.count(texts)]


class _Around(NamedTuple):
    """What stands around a cut's text, and the spans of its context."""

    parts: Parts
    before: Span | None
    after: Span | None


class _Draft(NamedTuple):
    """What is embedded for a cut."""

    before: Span | None
    after: Span | None
    breadcrumb: str | None
    embed_text: str
    embed_tokens: int
    gave_way: bool


def _parts(
    document: Document,
    name: str,
    settings: ChunkSettings,
    placed: Sequence[_Placed],
    outline: Outline,
    measures: Measures,
) -> list[_Around]:
    """What stands around each cut's text, in order."""
    text, keys = document.text, settings.compose.breadcrumb
    title = short_title(document_title(document, name, settings).text, settings.compose.title.max_chars)
    instead = _instead_of(document, settings, measures.of(settings.size.unit))
    measure = measures.of(settings.overlap.unit or settings.size.unit)
    neighbours = Neighbours(document, outline, settings, measure)
    last: int | None = None
    parts = []
    for cut, chunk_text, start, end, section, _ in placed:
        before, after = neighbours.before(start, last), neighbours.after(end)
        crumbs = breadcrumb(section, title, chunk_text, keys)
        steps = _steps(cut)
        if steps:
            crumbs = f"{crumbs}{keys.separator}{steps}" if crumbs else steps
        around = Parts(
            title,
            crumbs,
            text[slice(*before)] if before else "",
            chunk_text,
            instead(start, end, chunk_text),
            text[slice(*after)] if after else "",
        )
        parts.append(_Around(around, before, after))
        last = end
    return parts


def _instead_of(
    document: Document, settings: ChunkSettings, measure: Measure
) -> Callable[[int, int, str], str]:
    """What is embedded for the ink of a chunk instead of its text: with a header, or by a template; or nothing."""
    carried = Carried(document, settings, measure)

    def headed(start: int, _end: int, chunk_text: str) -> str:
        header = carried.header(start)
        return f"{header}\n{chunk_text}" if header else ""

    template = settings.records.template
    if template is None or settings.strategy != "records":
        return headed
    rows = RowTemplate(document, template)
    return lambda start, end, chunk_text: rows.filled(start, end) or headed(start, end, chunk_text)


def _composed(
    around: Sequence[_Around], settings: ChunkSettings, counter: TokenCounter, max_tokens: int | None
) -> list[_Draft]:
    """All at once, because counting has a price a call; only what is over the budget is looked at alone."""

    def count(text: str) -> int:
        return counter.count([text])[0]

    full = [join(each.parts, settings) for each in around]
    drafts = []
    for each, embed_text, tokens in zip(around, full, counter.count(full), strict=True):
        parts, before, after = each
        if max_tokens is None or tokens <= max_tokens:
            drafts.append(
                _Draft(before, after, parts.breadcrumb or None, embed_text, tokens, gave_way=False)
            )
            continue
        text, kept = compose(parts, settings, count, max_tokens)
        before, after = _left(each, kept)
        drafts.append(_Draft(before, after, kept.breadcrumb or None, text, count(text), gave_way=True))
    return drafts


def _left(around: _Around, kept: Parts) -> tuple[Span | None, Span | None]:
    """The spans of what is kept of the context: the end of that before, the beginning of that behind."""
    before, after = around.before, around.after
    return (
        (before[1] - len(kept.context), before[1]) if before and kept.context else None,
        (after[0], after[0] + len(kept.context_after)) if after and kept.context_after else None,
    )


def _steps(cut: Cut) -> str:
    """Which of a procedure's steps a chunk holds, where these are not all."""
    first, last, total = cut.step_first, cut.step_last, cut.step_total
    if first is None or last is None or total is None or last - first + 1 == total:
        return ""
    return f"step {first} of {total}" if first == last else f"steps {first}-{last} of {total}"


def _complete(
    document: Document,
    placed: Sequence[_Placed],
    drafts: Sequence[_Draft],
    counter: TokenCounter,
    find: Callable[[str, Sequence[str]], Mentions],
) -> list[Chunk]:
    page_starts = [page.start for page in document.pages]
    tokens = counter.count([each.text for each in placed])
    chunks = []
    for (cut, text, start, end, section, titles), draft, count in zip(placed, drafts, tokens, strict=True):
        mentions = find(text, section.path)
        context_start, context_end = draft.before or (None, None)
        after_start, after_end = draft.after or (None, None)
        chunks.append(
            Chunk(
                cut=cut,
                text=text,
                tokens=count,
                counter=counter.name,
                embed_text=draft.embed_text,
                embed_tokens=draft.embed_tokens,
                section_title=section.title,
                section_path=section.path,
                section_level=section.level,
                section_titles=titles,
                breadcrumb=draft.breadcrumb,
                page_start=_page(document, page_starts, start),
                page_end=_page(document, page_starts, end - 1),
                context_start=context_start,
                context_end=context_end,
                context_after_start=after_start,
                context_after_end=after_end,
                entity_mentions=mentions.names,
                entity_id=mentions.single,
                warnings=(*cut.warnings, BUDGET_CUT) if draft.gave_way else cut.warnings,
            )
        )
    return chunks


def _page(document: Document, starts: list[int], position: int) -> int | None:
    """The page that a position lies on; None where the document has no pages."""
    place = bisect_right(starts, position) - 1
    return document.pages[place].number if place >= 0 else None

"""The last word on size: a span that still has more tokens than allowed is halved until it has not.

A strategy measures spans by tokens counted once for the whole text. Counted alone, a span can have more:
where it begins or ends inside a token, the pieces are tokens of their own.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from transforms.model.chunk import Cut, CutKind
from transforms.structure.breaks import last_grapheme

if TYPE_CHECKING:
    from transforms.chunkers.settings import ChunkSettings
    from transforms.embedders.protocol import TokenCounter

OVERSIZE_GRAPHEME = "oversize_grapheme"
"""Warning: the chunk is one grapheme, and that alone is over the maximum or the model's input."""


PROTECTED = frozenset({CutKind.PROTECTED, CutKind.OVER_CEILING})
"""Cuts that are held to ``steps.ceiling`` and not to ``size.max``."""


def guarded(
    text: str,
    cuts: list[Cut],
    settings: ChunkSettings,
    sizer: TokenCounter,
    model: TokenCounter,
    max_tokens: int | None,
) -> list[Cut]:
    """The cuts, held to the maximum as ``sizer`` counts and to the model's input; what cannot be cut says so."""
    held: list[Cut] = []
    for protected, group in groupby(cuts, key=lambda cut: cut.kind in PROTECTED):
        limit = settings.steps_ceiling if protected else settings.size.max
        parts = list(group)
        if settings.size.unit == "chars":
            parts = [_oversize(cut) if cut.end - cut.start > limit else cut for cut in parts]
        else:
            parts = within(text, parts, sizer, limit)
        held += parts if max_tokens is None else within(text, parts, model, max_tokens)
    return held


def within(text: str, cuts: list[Cut], counter: TokenCounter, max_tokens: int) -> list[Cut]:
    """Halve what is over ``max_tokens``, down to single graphemes."""
    counts = counter.count([text[cut.start : cut.end] for cut in cuts])
    parts: list[Cut] = []
    for cut, count in zip(cuts, counts, strict=True):
        if count <= max_tokens:
            parts.append(cut)
            continue
        halves = _halves(text, cut)
        parts += within(text, halves, counter, max_tokens) if halves else [_oversize(cut)]
    return parts


def _halves(text: str, cut: Cut) -> list[Cut]:
    """Both halves of a span, white space between them with the first; one where the other is blank.

    None of a single grapheme.
    """
    middle = last_grapheme(text, cut.start, max(cut.start + 1, (cut.start + cut.end) // 2))
    if middle >= cut.end:
        return []
    middle = cut.end - len(text[middle : cut.end].lstrip())
    parts = [(cut.start, middle), (middle, cut.end)]
    if middle == cut.end:
        parts = [(cut.start, cut.start + len(text[cut.start : cut.end].rstrip()))]
    return [
        cut._replace(start=start, end=end, kind=CutKind.HARD)
        for start, end in parts
        if text[start:end].strip()
    ]


def _oversize(cut: Cut) -> Cut:
    if OVERSIZE_GRAPHEME in cut.warnings:
        return cut
    return cut._replace(warnings=(*cut.warnings, OVERSIZE_GRAPHEME))

"""The last word on size: a span that still has more tokens than allowed is halved until it has not.

A strategy measures spans by tokens counted once for the whole text. Counted alone, a span can have more:
where it begins or ends inside a token, the pieces are tokens of their own.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from transforms.model.chunk import Cut, CutKind
from transforms.structure.sentences import grapheme_spans

if TYPE_CHECKING:
    from transforms.chunkers.settings import ChunkSettings
    from transforms.embedders.protocol import TokenCounter

OVERSIZE_GRAPHEME = "oversize_grapheme"
"""Warning: the chunk is one grapheme, and that alone is over the maximum or the model's input."""


PROTECTED = frozenset({CutKind.PROTECTED, CutKind.OVER_CEILING})
"""Cuts that are held to ``steps.ceiling`` and not to ``size.max``."""


def guarded(
    text: str, cuts: list[Cut], settings: ChunkSettings, counter: TokenCounter, max_tokens: int | None
) -> list[Cut]:
    """The cuts, held to the maximum and to the model's input; what cannot be cut says so."""
    held: list[Cut] = []
    for protected, group in groupby(cuts, key=lambda cut: cut.kind in PROTECTED):
        limit = settings.steps_ceiling if protected else settings.size.max
        held += _held(text, list(group), settings.size.unit, limit, counter, max_tokens)
    return held


def _held(
    text: str, cuts: list[Cut], unit: str, limit: int, counter: TokenCounter, max_tokens: int | None
) -> list[Cut]:
    bounds = [] if max_tokens is None else [max_tokens]
    if unit == "tokens":
        bounds.append(limit)
    if bounds:
        cuts = within(text, cuts, counter, min(bounds))
    if unit == "tokens":
        return cuts
    return [_oversize(cut) if cut.end - cut.start > limit else cut for cut in cuts]


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
    """The ink of both halves of a span; none of a single grapheme."""
    ends = [end for _, end in grapheme_spans(text, cut.start, cut.end)]
    if len(ends) < 2:
        return []
    middle = ends[len(ends) // 2 - 1]
    parts = [
        (
            middle - len(text[cut.start : middle].lstrip()),
            cut.start + len(text[cut.start : middle].rstrip()),
        ),
        (cut.end - len(text[middle : cut.end].lstrip()), middle + len(text[middle : cut.end].rstrip())),
    ]
    return [replace(cut, start=start, end=end, kind=CutKind.HARD) for start, end in parts if start < end]


def _oversize(cut: Cut) -> Cut:
    if OVERSIZE_GRAPHEME in cut.warnings:
        return cut
    return replace(cut, warnings=(*cut.warnings, OVERSIZE_GRAPHEME))

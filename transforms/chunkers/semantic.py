"""``semantic``: chunks end where the meaning turns, found by comparing neighbouring sentences as vectors.

Sentences with their neighbours are embedded; where the distance of two is over a percentile of the document's
distances, and over ``semantic.min_distance``, a group ends. Headings are hard borders and go with what follows;
tables and code are one unit each. A group too small to stand alone joins the nearer neighbour, one over the
maximum is cut like any text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from transforms.chunkers.packing import clipped, pack_blocks
from transforms.model.chunk import Cut, CutKind
from transforms.model.document import Block, BlockKind
from transforms.structure.sentences import sentence_spans

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from transforms.chunkers.settings import ChunkSettings
    from transforms.chunkers.tools import Embed, Tools
    from transforms.model.document import Document
    from transforms.structure.sentences import SentenceRules

_NOISE = 1e-6
"""Below it a distance is rounding: equal sentences differ by as much from one machine to the next."""
_DIGITS = 6


@dataclass(slots=True)
class _Group:
    """Units from one turn to the next; distances are None at a heading and at the document's ends."""

    start: int
    end: int
    before: float | None
    after: float | None


def cut_semantic(document: Document, settings: ChunkSettings, tools: Tools) -> list[Cut]:
    """The document's chunks: ordered, disjoint, all ink covered, none without ink.

    Raises:
        ValueError: there is no embedder to compare by.
    """
    if tools.embed is None:
        raise ValueError("strategy semantic compares texts: it needs an embedder")
    text = document.text
    sections = list(_sections(text, document.blocks, settings.sentences.rules))
    distances = _distances(text, sections, settings, tools)
    groups = _merged(_groups(sections, distances, settings), settings, tools)
    cuts: list[Cut] = []
    for number, group in enumerate(groups):
        if tools.measure(group.start, group.end) <= settings.size.max:
            parts = [Cut(group.start, group.end, CutKind.PACKED if len(groups) > 1 else CutKind.WHOLE)]
        else:
            inside = clipped(text, document.blocks, group.start, group.end)
            parts = pack_blocks(text, inside, settings, tools.measure)
        parts = [part._replace(semantic_group=number) for part in parts]
        parts[0] = parts[0]._replace(distance_before=group.before)
        parts[-1] = parts[-1]._replace(distance_after=group.after)
        cuts += parts
    return cuts


def _sections(text: str, blocks: Sequence[Block], rules: SentenceRules) -> Iterator[list[tuple[int, int]]]:
    """The units of each section: sentences, tables, code; the headings are part of the first."""
    units: list[tuple[int, int]] = []
    lead: int | None = None
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            if units:
                yield units
                units = []
            lead = block.start if lead is None else lead
            continue
        for start, end in _units(text, block, rules):
            units.append((start if lead is None else lead, end))
            lead = None
    if lead is not None:
        units.append((lead, blocks[-1].end))
    if units:
        yield units


def _units(text: str, block: Block, rules: SentenceRules) -> Iterator[tuple[int, int]]:
    if block.kind in (BlockKind.TABLE, BlockKind.CODE):
        yield block.start, block.end
        return
    for start, end in sentence_spans(text, block.start, block.end, rules):
        ink = text[start:end].rstrip()
        if ink:
            yield start, start + len(ink)


def _distances(
    text: str, sections: Sequence[Sequence[tuple[int, int]]], settings: ChunkSettings, tools: Tools
) -> list[NDArray[np.float64]]:
    """One array a section: the distance of each unit and the next. A section of one unit embeds nothing."""
    windows = [
        _window(text, units, place, settings, tools)
        for units in sections
        if len(units) > 1
        for place in range(len(units))
    ]
    vectors = (
        _embedded(windows, settings.semantic.max_sentences, tools.embed)
        if tools.embed and windows
        else None
    )
    found, first = [], 0
    for units in sections:
        if len(units) < 2 or vectors is None:
            found.append(np.zeros(0))
            continue
        found.append(_turns(vectors[first : first + len(units)]))
        first += len(units)
    return found


def _window(
    text: str, units: Sequence[tuple[int, int]], place: int, settings: ChunkSettings, tools: Tools
) -> str:
    """A unit with its neighbours as they stand in the text, as far as the model can read."""
    around = settings.semantic.window
    start, end = units[max(0, place - around)][0], units[min(len(units) - 1, place + around)][1]
    if tools.measure(start, end) > settings.size.max:
        start, end = units[place]
        end = min(end, tools.measure.reach(start, settings.size.max))
    return text[start:end]


def _embedded(texts: Sequence[str], at_once: int, embed: Embed) -> NDArray[np.float64]:
    parts = [embed(texts[first : first + at_once]) for first in range(0, len(texts), at_once)]
    return np.concatenate(parts).astype(np.float64)


def _turns(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """One minus the cosine of each row and the next, rounded; 0 where one of them has no direction."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    known = np.isfinite(lengths) & (lengths > 0)
    unit = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=known)
    distance = 1.0 - np.einsum("ij,ij->i", unit[:-1], unit[1:])
    both = (known[:-1] & known[1:])[:, 0]
    rounded: NDArray[np.float64] = np.where(both, distance, 0.0).round(_DIGITS)
    return rounded


def _groups(
    sections: Sequence[Sequence[tuple[int, int]]],
    distances: Sequence[NDArray[np.float64]],
    settings: ChunkSettings,
) -> list[_Group]:
    every = np.concatenate([*distances, np.zeros(0)])
    threshold = max(settings.semantic.min_distance, _NOISE)
    if len(every):
        threshold = max(threshold, float(np.percentile(every, settings.semantic.percentile)))
    groups: list[_Group] = []
    for units, between in zip(sections, distances, strict=True):
        group = _Group(*units[0], before=None, after=None)
        for (start, end), distance in zip(units[1:], between.tolist(), strict=True):
            if distance > threshold:
                group.after = distance
                groups.append(group)
                group = _Group(start, end, before=distance, after=None)
            group.end = end
        groups.append(group)
    return groups


def _merged(groups: Sequence[_Group], settings: ChunkSettings, tools: Tools) -> list[_Group]:
    """A group under ``min_fill`` joins the neighbour that it is nearer to, if the maximum allows."""
    floor = int(settings.size.min_fill * settings.size.target)

    def fits(first: _Group, second: _Group) -> bool:
        return first.after is not None and tools.measure(first.start, second.end) <= settings.size.max

    merged: list[_Group] = []
    small = [tools.measure(group.start, group.end) < floor for group in groups]
    for place, group in enumerate(groups):
        before = merged[-1] if merged else None
        alone = before is None or not fits(before, group)
        wanted = small[place] and not _nearer_to_next(group)
        if before and not alone and (wanted or tools.measure(before.start, before.end) < floor):
            before.end, before.after = group.end, group.after
        else:
            merged.append(group)
    return merged


def _nearer_to_next(group: _Group) -> bool:
    return group.after is not None and group.before is not None and group.after < group.before

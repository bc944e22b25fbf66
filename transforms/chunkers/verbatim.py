"""``verbatim``: slices of the document one behind the other, cut at the best breaks that the size allows.

The slices are gapless: the white space between two goes whole with the one before it, or where that has no room
with the one behind it. Joined, they are the document. Only white space that would bring both over the maximum,
as a run of blank lines longer than a chunk, is in neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.chunkers.packing import pack_spans
from transforms.model.chunk import Cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transforms.chunkers.packing import Span
    from transforms.chunkers.settings import ChunkSettings
    from transforms.chunkers.size import Measure
    from transforms.chunkers.tools import Tools
    from transforms.model.document import Document


def cut_verbatim(document: Document, settings: ChunkSettings, tools: Tools) -> list[Cut]:
    """The document's chunks: ordered, disjoint, all ink covered, none without ink."""
    spans = pack_spans(document.text, document.blocks, settings, tools.measure)
    return _gapless(spans, len(document.text), tools.measure, settings.size.max)


def _gapless(spans: Sequence[Span], length: int, measure: Measure, most: int) -> list[Cut]:
    """The spans, each with the white space behind it, or with that before it which no other had room for."""
    cuts = []
    taken = 0
    behind = [*(start for start, _, _ in spans), length][1:]
    for (first, last, kind), after in zip(spans, behind, strict=True):
        start = taken if taken < first and measure(taken, last) <= most else first
        taken = after if last < after and measure(start, after) <= most else last
        cuts.append(Cut(start, taken, kind))
    return cuts

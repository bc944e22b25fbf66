"""``tokens``: windows of a fixed size one behind the other, whatever stands at their borders.

The simplest cut there is, and a yardstick for the others. Only graphemes are not cut. With ``size.unit: chars``
the windows are of characters.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from transforms.model.chunk import Cut, CutKind
from transforms.structure.breaks import last_grapheme

if TYPE_CHECKING:
    from transforms.chunkers.settings import ChunkSettings
    from transforms.chunkers.tools import Tools
    from transforms.model.document import Document

_INK = re.compile(r"\S")
_SLACK = 2
"""Tokens: counted alone, a window that begins inside a word, or without the space before one, can have more."""


def cut_tokens(document: Document, settings: ChunkSettings, tools: Tools) -> list[Cut]:
    """Every chunk but the last as full as the target allows, but for what counting it alone may add."""
    text, size = document.text, settings.size.target
    if settings.size.unit == "tokens":
        size -= min(_SLACK, size // 16)
    cuts: list[Cut] = []
    last = len(text.rstrip())
    found = _INK.search(text)
    while found and found.start() < last:
        start = found.start()
        high = max(start + 1, tools.measure.reach(start, size))
        if high >= last:
            return [*cuts, Cut(start, last, CutKind.SPLIT if cuts else CutKind.WHOLE)]
        end = last_grapheme(text, start, high)
        cuts.append(Cut(start, start + len(text[start:end].rstrip()), CutKind.SPLIT))
        found = _INK.search(text, end)
    return cuts

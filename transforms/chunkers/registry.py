"""The strategies by name: one function each, from a document's structure to the spans of its chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.chunkers.code import cut_code
from transforms.chunkers.headings import cut_headings
from transforms.chunkers.records import cut_records
from transforms.chunkers.recursive import cut_recursive
from transforms.chunkers.sections import cut_sections
from transforms.chunkers.semantic import cut_semantic
from transforms.chunkers.tokens import cut_tokens
from transforms.chunkers.verbatim import cut_verbatim
from transforms.chunkers.whole import cut_whole
from transforms.chunkers.window import cut_window

if TYPE_CHECKING:
    from transforms.chunkers.settings import StrategyName
    from transforms.chunkers.tools import Strategy

STRATEGIES: dict[StrategyName, Strategy] = {
    "verbatim": cut_verbatim,
    "semantic": cut_semantic,
    "sections": cut_sections,
    "headings": cut_headings,
    "window": cut_window,
    "recursive": cut_recursive,
    "tokens": cut_tokens,
    "records": cut_records,
    "whole": cut_whole,
    "code": cut_code,
}
"""Adding one is a module, a line here, and its name in the settings; the shared laws run by themselves."""

"""A preview in the terminal: the text with a tint a chunk, and a line of facts where a chunk begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from pipeline.output import plain_console, visible
from pipeline.preview.view import Cutting, View, facts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from pipeline.preview.segments import Segment

_TINTS = ("on #dbeafe #111827", "on #fef3c7 #111827", "on #dcfce7 #111827", "on #fce7f3 #111827")
_BOTH = "underline"
"""Where chunks overlap."""
_NONE = "dim"
"""What lies in no chunk."""


def show(view: View) -> None:
    """Print one document under each of its strategies, one after the other."""
    console = plain_console()
    for warning in view.document.warnings:
        console.print(visible(f"{view.name}: {warning}"), style="yellow", soft_wrap=True)
    for cutting in view.cuttings:
        console.print(f"{view.name}  {cutting.strategy}: {cutting.summary()}", style="bold", soft_wrap=True)
        _show_text(console, view, cutting)
        console.print()


def _show_text(console: Console, view: View, cutting: Cutting) -> None:
    text = view.document.text
    for stretch in view.stretches():
        for segment in view.segments(stretch, cutting):
            for line in _heads(segment, cutting):
                console.print(visible(line), style="bold cyan", soft_wrap=True)
            console.print(
                Text(visible(text[segment.start : segment.end]), style=_style(segment)),
                end="",
                soft_wrap=True,
            )
    if not text.endswith("\n"):
        console.print()


def _heads(segment: Segment, cutting: Cutting) -> Iterator[str]:
    for n in segment.begins:
        yield "\n\u25b8 " + " \u00b7 ".join(facts(cutting.chunks[n], n + 1))


def _style(segment: Segment) -> str:
    if not segment.chunks:
        return _NONE
    tint = _TINTS[segment.chunks[-1] % len(_TINTS)]
    return f"{tint} {_BOTH}" if len(segment.chunks) > 1 else tint

"""A preview as one HTML file that needs nothing else: tinted text, facts on pointing, pictures of pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pipeline.preview.view import Cutting, Stretch, View, facts
from transforms.pages.html import render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TINTS = 6
"""How many tints follow each other; the style sheet has as many."""


class Piece(NamedTuple):
    """A tinted stretch of text as the template takes it."""

    text: str
    tint: str
    chunks: str
    """Ids of the facts that it shows."""
    labels: tuple[int, ...]
    """Numbers, from 1, of chunks that begin with it."""


class Row(NamedTuple):
    """A page, or a whole document."""

    title: str
    picture: str | None
    cells: tuple[tuple[Piece, ...], ...]
    """One a strategy."""


class Shown(NamedTuple):
    """A document as the template takes it."""

    name: str
    facts: str
    warnings: tuple[str, ...]
    headings: tuple[tuple[str, str], ...]
    """Of each strategy its name and summary."""
    rows: tuple[Row, ...]
    pictures: bool


def preview_page(views: Sequence[View], pictures: Mapping[int, str], note: str = "") -> str:
    """The HTML file.

    Args:
        views: documents of one file.
        pictures: by page number, for files that have pages.
        note: what is left out, in a sentence.
    """
    details: dict[str, dict[str, str]] = {}
    shown = [_shown(view, n, pictures, details) for n, view in enumerate(views)]
    return render("preview.html.j2", documents=shown, details=details, note=note)


def _shown(view: View, n: int, pictures: Mapping[int, str], details: dict[str, dict[str, str]]) -> Shown:
    for c, cutting in enumerate(view.cuttings):
        for number, chunk in enumerate(cutting.chunks):
            said = " \u00b7 ".join(facts(chunk, number + 1))
            details[f"{n}-{c}-{number}"] = {"facts": said, "embedded": chunk.embed_text}
    document = view.document
    known = [document.media_type, f"{len(document.text):,} characters", document.language or ""]
    return Shown(
        name=view.name,
        facts=" \u00b7 ".join(filter(None, known)),
        warnings=document.warnings,
        headings=tuple((cutting.strategy, cutting.summary()) for cutting in view.cuttings),
        rows=tuple(_row(view, n, stretch, pictures) for stretch in view.stretches()),
        pictures=bool(pictures),
    )


def _row(view: View, n: int, stretch: Stretch, pictures: Mapping[int, str]) -> Row:
    title = ""
    if stretch.number is not None:
        printed = f" (printed {stretch.label})" if stretch.label not in (None, str(stretch.number)) else ""
        title = f"Page {stretch.number}{printed}"
    cells = tuple(_pieces(view, f"{n}-{c}", stretch, cutting) for c, cutting in enumerate(view.cuttings))
    return Row(title, pictures.get(stretch.number or 0), cells)


def _pieces(view: View, key: str, stretch: Stretch, cutting: Cutting) -> tuple[Piece, ...]:
    return tuple(
        Piece(
            text=view.document.text[segment.start : segment.end],
            tint=_tint(segment.chunks),
            chunks=" ".join(f"{key}-{chunk}" for chunk in segment.chunks),
            labels=tuple(chunk + 1 for chunk in segment.begins),
        )
        for segment in view.segments(stretch, cutting)
    )


def _tint(chunks: tuple[int, ...]) -> str:
    if not chunks:
        return "none"
    return f"t{chunks[-1] % TINTS}" + (" several" if len(chunks) > 1 else "")

"""The report as a page: plots and tables of the record, and nothing that is not in it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from transforms.pages.html import render
from transforms.pages.plots import bars
from transforms.report.counted import COUNTED
from transforms.report.figures import BINS, Histogram

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transforms.model.document import JsonValue
    from transforms.report.report import Report

_SOURCES = 30
"""Bars that are readable; tables have all sources."""
_LANGUAGES = 15


def report_page(report: Report) -> str:
    """One HTML file that fetches nothing."""
    return render(
        "report.html.j2",
        report=report,
        figures=report.figures,
        counted=COUNTED,
        plots=list(_plots(report)),
        rows=[_row(report, name) for name in report.sources],
        shares=list(_shares(report)),
    )


def _plots(report: Report) -> Iterator[tuple[str, dict[str, JsonValue]]]:
    largest = sorted(report.sources, key=lambda name: -report.sources[name]["chunks"])[:_SOURCES]
    for what in ("documents", "chunks"):
        yield (
            f"{what.capitalize()} by source",
            bars(largest, {what: [report.sources[name][what] for name in largest]}, sideways=True),
        )
    vectors = ("embedded", "repeated", "reused")
    yield (
        "Where vectors came from",
        bars(
            largest,
            {what: [report.sources[name].get(what, 0) for name in largest] for what in vectors},
            stacked=True,
            sideways=True,
        ),
    )
    for label, histogram in report.figures.sizes.items():
        yield f"Sizes of chunks: {label}", _sizes(histogram)
    if report.rejected:
        yield (
            "Rejected documents by reason",
            bars(list(report.rejected), {"documents": list(report.rejected.values())}, sideways=True),
        )
    if report.figures.languages:
        languages = list(report.figures.languages.items())[:_LANGUAGES]
        yield (
            "Languages",
            bars(
                [name or "not known" for name, _ in languages],
                {"documents": [count for _, count in languages]},
            ),
        )
    if report.seconds:
        yield (
            "Seconds by stage",
            bars(list(report.seconds), {"seconds": list(report.seconds.values())}, sideways=True),
        )


def _sizes(histogram: Histogram) -> dict[str, JsonValue]:
    """Bars in three tints: up to the target, up to the most allowed, and over it."""
    edges = [histogram.most * n // BINS for n in range(BINS + 1)]
    labels = [f"{low + 1:,}\u2013{high:,}" for low, high in pairwise(edges)] + [f"> {edges[-1]:,}"]
    zones: dict[str, list[float]] = {}
    for name, low, high in (
        ("up to the target", 0, histogram.target),
        ("up to the most", histogram.target, histogram.most),
        ("over the most", histogram.most, None),
    ):
        zones[name] = [
            count if low < upper and (high is None or upper <= high) else 0
            for upper, count in zip([*edges[1:], histogram.most + 1], histogram.counts, strict=True)
        ]
    return bars(labels, zones, stacked=True)


def _row(report: Report, name: str) -> dict[str, Any]:
    now, before = report.sources[name], report.before.get(name, {})
    return {
        "name": name,
        "counts": now,
        "changes": {what: now[what] - before.get(what, 0) for what in ("documents", "chunks")},
        "is_new": name not in report.before,
    }


def _shares(report: Report) -> Iterator[tuple[str, int, int]]:
    figures = report.figures
    yield "chunks with a text that another chunk has", figures.repeated, figures.chunks_seen
    yield "tiny chunks", figures.tiny, figures.chunks_seen
    yield "chunks longer than the most allowed", figures.oversize, figures.chunks_seen
    yield "chunks without a vector", figures.without_vector, figures.chunks_seen
    yield "documents whose text may be garbage", figures.suspect, figures.documents_seen
    yield (
        "documents that keep old rows, because they cannot be read now",
        figures.stale,
        figures.documents_seen,
    )

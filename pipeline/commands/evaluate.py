"""``parquetry evaluate``: questions with known answers, asked of several ways to cut, embed and search a corpus."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.table import Table

from pipeline.evaluate.halves import LEAST
from pipeline.evaluate.run import Evaluation, evaluate
from pipeline.evaluate.settings import load_evaluation
from pipeline.output import counted, json_line, plain_console, print_figures
from transforms.pages.html import render
from transforms.pages.plots import intervals

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.evaluate.halves import Halves
    from transforms.evaluation.measures import Interval


def run(config: Path, *, html: Path | None, as_json: bool) -> int:
    """Print a table of measures, or JSON with every question; with ``html`` also write a page with plots.

    Raises:
        ConfigError: a file cannot be used, or the questions do not fit the corpus.
    """
    settings, variants = load_evaluation(config)
    found = evaluate(settings, variants)
    for name, reason in found.rejected.items():
        print(f"{name} is left out: {reason}", file=sys.stderr)
    if html is not None:
        html.parent.mkdir(parents=True, exist_ok=True)
        html.write_text(_page(found), encoding="utf-8")
    if as_json:
        print(json_line(_record(found), indent=2))
        return 0
    print_figures(_table(found))
    console = plain_console()
    questions, documents = _asked(found)
    console.print(f"{questions}, {documents}; in brackets the 95% interval of the mean.")
    if not found.halves and any(result.by == "hybrid" for result in found.results):
        console.print(f"No weight was chosen: a half of the questions has fewer than {LEAST}.")
    for half in found.halves:
        console.print()
        print_figures(_halves(half))
        if half.advice:
            console.print(f"In the job's configuration, `{half.advice}` keeps it.", soft_wrap=True)
    if html is not None:
        console.print(f"{html} has plots, and the rank of every question.", soft_wrap=True)
    return 0


def _asked(found: Evaluation) -> tuple[str, str]:
    """How many questions, and of how many documents."""
    return counted(len(found.results[0].asked), "question"), counted(found.documents, "document")


def _record(found: Evaluation) -> dict[str, Any]:
    results = [
        {
            "name": result.name,
            "by": result.by,
            "chunks": result.chunks,
            "median_tokens": result.median_tokens,
            "embedded": result.embedded,
            "measures": {name: interval._asdict() for name, interval in result.measures.items()},
            "questions": [
                {
                    "id": asked.question.id,
                    "question": asked.question.question,
                    "rank": asked.rank,
                    "found": asked.found,
                    "measures": asked.measures,
                }
                for asked in result.asked
            ],
        }
        for result in found.results
    ]
    halves = [
        {
            **asdict(half),
            "measures": {
                way: {name: interval._asdict() for name, interval in measures.items()}
                for way, measures in half.measures.items()
            },
        }
        for half in found.halves
    ]
    return {**asdict(found), "results": results, "halves": halves}


def _measures(found: Evaluation) -> list[str]:
    return list(dict.fromkeys(name for result in found.results for name in result.measures))


def _table(found: Evaluation) -> Table:
    """A line a measure and a column a variant: variants are few, and measures many."""
    variants = list({result.name: result for result in found.results}.values())
    by_way = {(result.name, result.by): result for result in found.results}
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("")
    for result in variants:
        table.add_column(result.name, justify="right", overflow="fold")
    table.add_row("chunks", *(f"{result.chunks:,}" for result in variants))
    table.add_row("median tokens", *(f"{result.median_tokens:,.0f}" for result in variants))
    table.add_row("texts embedded", *(f"{result.embedded:,}" for result in variants))
    for by in dict.fromkeys(result.by for result in found.results):
        if len(by_way) > len(variants):
            table.add_row(f"\n{by}")
        measures = [
            by_way[result.name, by].measures if (result.name, by) in by_way else {} for result in variants
        ]
        for name in _measures(found):
            table.add_row(name, *(_shown(one.get(name)) for one in measures))
    return table


def _halves(half: Halves) -> Table:
    """What was chosen on one half of the questions, and what the other half says of it."""
    table = Table(
        box=None,
        pad_edge=False,
        padding=(0, 3, 0, 0),
        title_justify="left",
        title_style="",
        title=f"{half.name}: {half.fusion}, chosen on {half.chosen_on} questions by their {half.measure}; on the "
        f"{half.measured_on} others:",
    )
    table.add_column("")
    for way in half.measures:
        table.add_column(way, justify="right")
    for name in half.measures["hybrid"]:
        table.add_row(name, *(_shown(measures.get(name)) for measures in half.measures.values()))
    return table


def _shown(interval: Interval | None) -> str:
    if interval is None:
        return ""
    return f"{interval.mean:.3f} [{interval.low:.2f}, {interval.high:.2f}]"


def _page(found: Evaluation) -> str:
    several = any(result.by != "dense" for result in found.results)
    names = [f"{result.name}, {result.by}" if several else result.name for result in found.results]
    plots = []
    # In each question one document counts, so nDCG tells nothing that the reciprocal rank does not.
    for measure in (name for name in _measures(found) if not name.startswith("ndcg")):
        have = [result.measures[measure] for result in found.results if measure in result.measures]
        plots.append((measure, intervals(names, [(one.mean, one.low, one.high) for one in have])))
    questions, documents = _asked(found)
    return render(
        "evaluation.html.j2",
        questions=questions,
        documents=documents,
        rejected=found.rejected,
        names=names,
        results=found.results,
        halves=found.halves,
        measures=_measures(found),
        plots=plots,
        asked=list(zip(*(result.asked for result in found.results), strict=True)),
    )

"""``parquetry plan``: what a run would do and cost, source by source; nothing is written."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from rich.table import Table

from pipeline.config import load_config
from pipeline.job import price_of_job
from pipeline.output import json_line, plain_console
from pipeline.run import plan_job
from pipeline.scope import scope_of
from transforms.embedders.registry import make_embedder
from transforms.planning.estimate import tokens_at_most

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pipeline.scope import Words
    from transforms.planning.plan import SourcePlan

_WIDTH = 130


@dataclass(frozen=True, slots=True)
class Planned:
    """One source's part of a run. Objects, then shards, then what would be read and embedded at most."""

    listed: int
    new: int
    changed: int
    moved: int
    touched: int
    redo: int
    unchanged: int
    gone: int
    shards_rebuilt: int
    shards_joined: int
    shards_new: int
    shards_kept: int
    bytes: int
    tokens: int


MILLION = 1_000_000
_SHOWN = (
    "listed", "new", "changed", "moved", "gone", "shards_rebuilt", "shards_joined", "shards_new", "bytes", "tokens",
)  # fmt: skip


def run(config: Path, words: Words, *, as_json: bool) -> int:
    """Print the plan of a run that would start now."""
    job_config = load_config(config)
    job, plans = plan_job(job_config, scope_of(words, job_config))
    sources = {plan.source: _planned(plan, tokens_at_most(plan, job)) for plan in plans}
    problems = {plan.source: plan.problem for plan in plans if plan.problem}
    notices = [notice for plan in plans for notice in plan.notices()]
    totals: Counter[str] = Counter()
    for one in sources.values():
        totals.update(asdict(one))
    price = price_of_job(job_config)
    cost = None if price is None else round(totals["tokens"] * price / MILLION, 6)
    model = make_embedder(job_config.embedder).name
    if as_json:
        record = {
            "table": job.table,
            "parent": job.parent,
            "sources": {name: asdict(one) for name, one in sources.items()},
            "totals": dict(totals),
            "problems": problems,
            "notices": notices,
            "model": model,
            "cost": cost,
        }
        print(json_line(record))
        return 0
    console = plain_console()
    # Counts that are cut off say something else than they are: a narrow place breaks lines instead.
    console.width = max(console.width, _WIDTH)
    console.print(_table(sources, totals))
    for line in _lines(totals, problems, cost, model, plans):
        console.print(line, soft_wrap=True)
    return 0


def _planned(plan: SourcePlan, tokens: int) -> Planned:
    parents = [len(shard.parents) for shard in plan.shards]
    return Planned(
        listed=plan.listed,
        new=plan.new,
        changed=plan.changed,
        moved=plan.moved,
        touched=plan.touched,
        redo=plan.redo,
        unchanged=plan.unchanged,
        gone=plan.gone,
        shards_rebuilt=parents.count(1),
        shards_joined=sum(count for count in parents if count > 1),
        shards_new=parents.count(0),
        shards_kept=len(plan.kept_shards),
        bytes=plan.work_bytes,
        tokens=tokens,
    )


def _table(sources: dict[str, Planned], totals: Counter[str]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("source")
    for column in _SHOWN:
        table.add_column(column.replace("shards_", "shards "), justify="right", no_wrap=True)
    rows = {name: asdict(one) for name, one in sources.items()}
    if len(rows) > 1:
        rows["total"] = dict(totals)
    for name, counts in rows.items():
        table.add_row(name, *(f"{counts[column]:,}" for column in _SHOWN))
    return table


def _lines(
    totals: Counter[str],
    problems: dict[str, str],
    cost: float | None,
    model: str,
    plans: Sequence[SourcePlan],
) -> list[str]:
    lines = [f"source `{name}` cannot be listed: {problem}" for name, problem in problems.items()]
    lines += [notice for plan in plans for notice in plan.notices()]
    if not any(plan.shards for plan in plans):
        return [*lines, "There is nothing to do."]
    price = "at no price" if cost == 0 else f"for {cost or 0:,.4f} US dollars"
    if cost is None:
        price = "whose price is not known (embedder.price_per_million_tokens)"
    return [
        *lines,
        f"About {totals['tokens']:,} tokens would be embedded with {model}, {price}: a guess by the bytes to read. "
        "Vectors that the table holds of changed texts are found again and cost nothing. Nothing was written.",
    ]

"""``parquetry plan``: what a run would do and cost, source by source; nothing is written."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from rich.table import Table

from pipeline.config import load_config
from pipeline.job import price_of_job
from pipeline.output import counted, json_line, plain_console, print_figures
from pipeline.run import plan_job
from pipeline.scope import scope_of
from transforms.embedders.registry import make_embedder
from transforms.stages.beside_rows import beside_rows
from transforms.stages.estimate import Estimate, estimate
from transforms.stages.parent import parent_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pipeline.scope import Words
    from transforms.planning.plan import SourcePlan


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
    estimates = {plan.source: estimate(plan, job) for plan in plans}
    sources = {plan.source: _planned(plan, estimates[plan.source].tokens) for plan in plans}
    basis = sum(estimates.values(), Estimate(0))
    problems = {plan.source: plan.problem for plan in plans if plan.problem}
    beside = list(beside_rows(job, parent_of(job)))
    notices = [*(notice for plan in plans for notice in plan.notices()), *beside]
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
            "tokens_told_from": {"objects_read": basis.read, "bytes_guessed": basis.guessed_bytes},
        }
        print(json_line(record))
        return 0
    print_figures(_table(sources, totals))
    console = plain_console()
    for line in [
        *_problems(problems, notices),
        *_outlook(basis, cost, model, plans, has_table=job.parent is not None, is_due=bool(beside)),
    ]:
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
        table.add_column(column.replace("shards_", "shards "), justify="right")
    rows = {name: asdict(one) for name, one in sources.items()}
    if len(rows) > 1:
        rows["total"] = dict(totals)
    for name, counts in rows.items():
        table.add_row(name, *(f"{counts[column]:,}" for column in _SHOWN))
    return table


def _problems(problems: dict[str, str], notices: Sequence[str]) -> Iterator[str]:
    for name, problem in problems.items():
        yield f"source `{name}` cannot be listed: {problem}"
    yield from notices


def _outlook(
    basis: Estimate,
    cost: float | None,
    model: str,
    plans: Sequence[SourcePlan],
    *,
    has_table: bool,
    is_due: bool,
) -> Iterator[str]:
    """What would be embedded, for what price, and how that is known."""
    if not any(plan.shards for plan in plans):
        yield "A snapshot with the same rows is due." if is_due else "There is nothing to do."
        return
    price = "at no price" if cost == 0 else f"for {cost or 0:,.4f} US dollars"
    if cost is None:
        price = "whose price is not known (embedder.price_per_million_tokens)"
    yield f"About {basis.tokens:,} tokens would be embedded with {model}, {price}."
    yield from _told_from(basis)
    if has_table and basis.tokens:
        yield "That is at most: vectors that the table holds are found again and cost nothing."
    yield "Nothing was written."


def _told_from(basis: Estimate) -> Iterator[str]:
    known = ["the table's own objects"] if basis.table_bytes else []
    known += [f"{counted(basis.read, 'object')} read for it"] if basis.read else []
    if known and basis.tokens:
        yield f"They are told by the bytes of each kind of file, as in {' and '.join(known)}."
    if basis.guessed_bytes:
        yield f"Of {basis.guessed_bytes:,} bytes of files nothing is known, and a token is taken for four of them."

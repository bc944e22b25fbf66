"""``parquetry run``: run the job and say what it did."""

from __future__ import annotations

import shlex
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

from pipeline.commands.counts import counts_table
from pipeline.config import load_config
from pipeline.lean import collect_rarely, keep_memory, look_for_no_pandas
from pipeline.output import counted, done_before_it_is_said, json_line, plain_console, print_figures
from pipeline.progress import progress_shown
from pipeline.run import run_job
from pipeline.scope import NOTHING_SAID, scope_of, with_budget
from transforms.extractors.reasons import BUG
from transforms.model.errors import GuardError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pipeline.scope import Words
    from transforms.stages.outcome import Outcome

EXIT_CODES = {"published": 0, "unchanged": 0, "handed_over": 0, "too_many_rejected": 3}


def run(
    config: Path,
    beam_args: Sequence[str],
    words: Words = NOTHING_SAID,
    *,
    allow_deletes: bool,
    take_over: bool,
    as_json: bool,
    quiet: bool = False,
    json_logs: bool = False,
) -> int:
    """Run the job of a configuration file; the exit code says whether the table is up to date."""
    start = time.monotonic()
    keep_memory()
    look_for_no_pandas()
    collect_rarely()
    job = with_budget(load_config(config), words)
    scope = scope_of(words, job)
    with progress_shown(quiet=quiet or as_json, records=json_logs) as watch:
        outcome = run_job(
            job, beam_args, allow_deletes=allow_deletes, take_over=take_over, scope=scope, watch=watch
        )
    seconds = time.monotonic() - start
    with done_before_it_is_said():
        if as_json:
            print(json_line({**asdict(outcome), "seconds": round(seconds, 3)}))
        else:
            show(outcome, seconds)
    return EXIT_CODES[outcome.status] or (GuardError.exit_code if outcome.incomplete else 0)


def show(outcome: Outcome, seconds: float | None) -> None:
    """Print for people how a run ended, and how long it took where that is known."""
    console = plain_console()
    if outcome.status == "handed_over":
        console.print(
            f"Written down as run {outcome.run_id}: whoever starts it, `parquetry status {shlex.quote(outcome.table)}` "
            "tells how far it is.",
            soft_wrap=True,
        )
        return
    print_figures(counts_table(outcome.sources, outcome.counts))
    for reason, count in outcome.reasons.items():
        example = outcome.examples.get(reason, "")
        one = example if count == 1 else f"for example {example}"
        console.print(f"  rejected {count:,} × {reason}: {one}", soft_wrap=True)
    if outcome.rejected_list:
        console.print(
            f"  `parquetry show {shlex.quote(outcome.table)} --rejected` lists them all, from {outcome.rejected_list}",
            soft_wrap=True,
        )
    bugs = outcome.reasons.get(BUG, 0)
    if bugs:
        console.print(
            f"{bugs:,} of them met a fault of this program, not of the file: see `detail` in the rejected table, "
            "and please report it.",
            soft_wrap=True,
        )
    for name, problem in outcome.incomplete.items():
        console.print(
            f"Source `{name}` could not be listed whole and keeps the rows it had: {problem}",
            soft_wrap=True,
        )
    for notice in outcome.notices:
        console.print(notice, soft_wrap=True)
    console.print(_sentence(outcome, seconds), soft_wrap=True)


def _sentence(outcome: Outcome, seconds: float | None) -> str:
    embedded = counted(outcome.counts.get("embedded", 0), "text")
    tokens = counted(outcome.embedded_tokens, "token")
    if outcome.status == "unchanged":
        newest = "" if outcome.snapshot is None else f" Snapshot {outcome.snapshot} stays the newest."
        spent = f" ({tokens})" if outcome.counts.get("embedded", 0) else ""
        took = "" if seconds is None else f" {seconds:.1f} s."
        return f"Nothing new: {embedded} embedded{spent}, no snapshot published.{newest}{took}"
    if outcome.refusal:
        return outcome.refusal
    took = "" if seconds is None else f" in {seconds:.1f} s"
    return (
        f"Published snapshot {outcome.snapshot} of {outcome.table}{took}; {embedded} embedded ({tokens})."
    )

"""``parquetry status``: how far the run is that builds a table's next snapshot, wherever it was started."""

from __future__ import annotations

import datetime
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

from pipeline.commands.run import show as show_outcome
from pipeline.output import json_line, plain_console
from pipeline.progress import progress_shown, rate, said
from transforms.stages.about import read_about
from transforms.stages.outcome import newest_outcome
from transforms.stages.progress import Watch
from transforms.storage.registry import open_store
from transforms.table.history import run_at_work
from transforms.table.lease import read_claim
from transforms.table.pointer import next_number, read_pointer

if TYPE_CHECKING:
    from transforms.storage.protocol import Store
    from transforms.table.lease import Claim

_PATIENCE = 2.0
"""Seconds between looks whether the run is there still."""


def run(table: str, *, follow: bool, as_json: bool) -> int:
    """Say how far the run at work is, or how the last one ended.

    Args:
        table: the table's root.
        follow: stay until the run at work is gone.
        as_json: for programs.
    """
    store = open_store(table)
    number, claim = next_number(read_pointer(store)), run_at_work(store)
    if claim is None:
        _ended(store, number, as_json=as_json)
        return 0
    about = read_about(store, number)
    watch = None if about is None or about.run_id != claim.run_id else Watch(store, about)
    if follow:
        _follow(store, claim, watch, as_json=as_json)
        return 0
    progress = None if watch is None else watch.look()
    if as_json:
        record = {"at_work": True, "snapshot": number, "claim": asdict(claim)}
        print(json_line({**record, "progress": None if progress is None else asdict(progress)}))
        return 0
    console = plain_console()
    console.print(f"Snapshot {number} of {table} is being built by {claim.holder()}.", soft_wrap=True)
    console.print(f"{said(progress)}{rate(progress, _seconds(claim))}.", soft_wrap=True)
    for one in [] if watch is None else watch.rejections():
        console.print(f"  rejected {one.document}: {one.reason}: {one.detail}", soft_wrap=True)
    return 0


def _seconds(claim: Claim) -> float:
    since = datetime.datetime.fromisoformat(claim.since)
    return (datetime.datetime.now(datetime.UTC) - since).total_seconds()


def _follow(store: Store, claim: Claim, watch: Watch | None, *, as_json: bool) -> None:
    with progress_shown(quiet=False, records=as_json) as shown:
        if watch is not None:
            shown(watch)
        while True:
            time.sleep(_PATIENCE)
            now = run_at_work(store)
            if now is None or now.run_id != claim.run_id:
                break
    _ended(store, next_number(read_pointer(store)), as_json=as_json)


def _ended(store: Store, number: int, *, as_json: bool) -> None:
    outcome = newest_outcome(store)
    if as_json:
        print(json_line({"at_work": False, "last": None if outcome is None else asdict(outcome)}))
        return
    console = plain_console()
    console.print("No run is at work.")
    claim = read_claim(store, number)
    if claim is not None:
        console.print(
            f"Snapshot {number} was not finished by {claim.holder()}; the next run goes on with it.",
            soft_wrap=True,
        )
    if outcome is not None:
        console.print(f"The last run that came to its end was {outcome.run_id}:", soft_wrap=True)
        show_outcome(outcome, None)

"""``parquetry rollback``: send readers back to an older snapshot, or forward again."""

from __future__ import annotations

from pipeline.output import json_line, plain_console
from transforms.storage.registry import open_store
from transforms.table.history import rollback, run_at_work
from transforms.table.pointer import read_pointer


def run(table: str, *, to: int | None, as_json: bool) -> int:
    """Move readers to a snapshot whose files are all there; to the one before, where none is named.

    Raises:
        TableError: there is no such snapshot, or a file of it is missing.
    """
    store = open_store(table)
    before = read_pointer(store)
    manifest = rollback(store, to)
    at_work = run_at_work(store)
    left = None if before is None else before.snapshot
    if as_json:
        holder = None if at_work is None else at_work.holder()
        record = {"table": table, "snapshot": manifest.snapshot, "before": left, "run_at_work": holder}
        print(json_line(record))
        return 0
    console = plain_console()
    console.print(_sentence(table, left, manifest.snapshot), soft_wrap=True)
    if at_work is not None and left != manifest.snapshot:
        console.print(
            f"A run is at work, {at_work.holder()}: it continues snapshot {left} and will publish nothing.",
            soft_wrap=True,
        )
    return 0


def _sentence(table: str, before: int | None, now: int) -> str:
    if before == now:
        return f"Readers of {table} see snapshot {now}, as before."
    if before is None:
        return f"Readers of {table} see snapshot {now}; latest.json, which was missing, says so again."
    return (
        f"Readers of {table} see snapshot {now}, not {before} any more. The next run continues from {now}; "
        f"`parquetry rollback {table} --to {before}` undoes this."
    )

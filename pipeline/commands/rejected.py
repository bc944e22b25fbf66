"""``parquetry show --rejected``: all documents that could not be indexed, and why.

Those of the last run, be it that it published nothing because of them; else those of the newest snapshot.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from pipeline.commands.search import printable
from pipeline.output import counted, json_line, plain_console
from pipeline.search import open_newest
from transforms.stages.outcome import newest_outcome
from transforms.storage.registry import open_store
from transforms.table.layout import rejected_of_run_path

if TYPE_CHECKING:
    from collections.abc import Sequence


def run(table: str, *, as_json: bool) -> int:
    """Print one line a rejected document.

    Raises:
        TableError: there is no snapshot, and no run that rejected too many.
    """
    whose, rows = _rejected(table)
    if as_json:
        print(json_line(rows))
        return 0
    console = plain_console()
    console.print(_head(whose, rows), soft_wrap=True)
    for row in rows:
        line = f"{row['source_name']}/{row['doc_id']}: {row['reason']}: {row['detail']}"
        console.print(printable(line), soft_wrap=True)
    return 0


def _rejected(table: str) -> tuple[str, list[dict[str, Any]]]:
    store = open_store(table)
    last = newest_outcome(store)
    if last is not None and last.status == "too_many_rejected":
        path = rejected_of_run_path(last.run_id)
        if store.stat(path) is not None:
            rows = pq.read_table(io.BytesIO(store.read(path))).to_pylist()
            return f"The last run of {table} published nothing and", rows
    snapshot = open_newest(table)
    return f"Snapshot {snapshot.manifest.snapshot} of {table}", snapshot.rejected().to_pylist()


def _head(whose: str, rows: Sequence[object]) -> str:
    if not rows:
        return f"{whose} rejected no document."
    return f"{whose} rejected {counted(len(rows), 'document')}:"

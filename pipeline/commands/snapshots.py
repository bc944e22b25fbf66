"""``parquetry snapshots``: the snapshots that a table holds, from their manifests alone."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from rich.table import Table

from pipeline.output import json_line, plain_console, print_figures
from transforms.storage.registry import open_store
from transforms.table.history import published, unfinished
from transforms.table.lease import read_claim
from transforms.table.pointer import read_pointer

if TYPE_CHECKING:
    from transforms.storage.protocol import Store
    from transforms.table.manifest import Manifest
    from transforms.table.pointer import Pointer

_COUNTS = ("documents", "chunks", "embedded", "deleted")


@dataclass(frozen=True, slots=True)
class _Listed:
    """One line of the list, as JSON has it."""

    snapshot: int
    parent: int | None
    created_at: str
    newest: bool
    bytes: int
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Unfinished:
    """A directory without a manifest that readers could see."""

    snapshot: int
    alive: bool
    holder: str


def run(table: str, *, as_json: bool) -> int:
    """Print every published snapshot, oldest first, and what runs at work or dead runs have left.

    Raises:
        TableError: nothing was published there.
    """
    store = open_store(table)
    manifests = published(store)
    pointer = read_pointer(store)
    newest = None if pointer is None else pointer.snapshot
    listed = [_listed(manifest, newest) for manifest in manifests]
    left = [_unfinished(store, number) for number in unfinished(store)]
    if as_json:
        record = {"snapshots": [asdict(one) for one in listed], "unfinished": [asdict(one) for one in left]}
        print(json_line(record))
        return 0
    print_figures(_table(listed))
    console = plain_console()
    console.print(f"Readers see snapshot {newest}.")
    for one in left:
        console.print(_sentence(one, table, pointer), soft_wrap=True)
    return 0


def _listed(manifest: Manifest, newest: int | None) -> _Listed:
    return _Listed(
        snapshot=manifest.snapshot,
        parent=manifest.parent,
        created_at=manifest.created_at,
        newest=manifest.snapshot == newest,
        bytes=sum(file.bytes for file in manifest.files),
        counts=manifest.counts,
    )


def _unfinished(store: Store, number: int) -> _Unfinished:
    claim = read_claim(store, number)
    if claim is None:
        return _Unfinished(number, alive=False, holder="")
    return _Unfinished(number, claim.alive(), claim.holder())


def _table(listed: list[_Listed]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("snapshot", justify="right")
    table.add_column("from", justify="right")
    table.add_column("published (UTC)")
    for column in (*_COUNTS, "bytes"):
        table.add_column(column, justify="right")
    for one in listed:
        table.add_row(
            str(one.snapshot),
            "" if one.parent is None else str(one.parent),
            one.created_at[:16].replace("T", " "),
            *(f"{one.counts.get(column, 0):,}" for column in _COUNTS),
            f"{one.bytes:,}",
        )
    return table


def _sentence(one: _Unfinished, table: str, pointer: Pointer | None) -> str:
    if one.alive:
        return f"Snapshot {one.snapshot} is being built by {one.holder}."
    if pointer is not None and one.snapshot == pointer.snapshot:
        return (
            f"Snapshot {one.snapshot} has lost its manifest. Put it back from a backup, or send readers to another "
            f"snapshot with `parquetry rollback {table} --to N`."
        )
    if pointer is not None and one.snapshot <= pointer.highest:
        return f"Snapshot {one.snapshot} has no manifest any more; `vacuum` removes what is left of it."
    by = f" Last at work: {one.holder}." if one.holder else ""
    return f"Snapshot {one.snapshot} was not finished; the next run goes on with it, or `vacuum` removes it.{by}"

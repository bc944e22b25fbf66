"""``parquetry show``: a snapshot's summary, from its manifest and the model that its first rows name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pipeline.commands.counts import counts_table
from pipeline.output import json_line, plain_console, print_figures
from transforms.report.made import model_of, model_words, recipe_words, sparse_words
from transforms.storage.registry import open_store
from transforms.table.layout import manifest_path, report_page_path
from transforms.table.reader import Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator


def run(table: str, *, as_json: bool) -> int:
    """Print the newest snapshot's counts by source, what it is made with and its size.

    Raises:
        TableError: there is none, or it is damaged.
    """
    snapshot = Snapshot.newest(open_store(table))
    if as_json:
        record = snapshot.store.read(manifest_path(snapshot.manifest.snapshot))
        print(json_line(json.loads(record)))
        return 0
    _show(snapshot, table)
    return 0


def _show(snapshot: Snapshot, table: str) -> None:
    manifest = snapshot.manifest
    console = plain_console()
    size = sum(file.bytes for file in manifest.files)
    since = f" (after {manifest.parent})" if manifest.parent else ""
    console.print(
        f"Snapshot {manifest.snapshot}{since} of {table}, published {manifest.created_at} by "
        f"{manifest.program}: {len(manifest.files)} files, {size:,} bytes.",
        soft_wrap=True,
    )
    counts = {name: source.counts for name, source in manifest.sources.items()}
    print_figures(counts_table(counts, manifest.counts))
    for line in _made(snapshot):
        console.print(line, soft_wrap=True)


def _made(snapshot: Snapshot) -> Iterator[str]:
    manifest, store = snapshot.manifest, snapshot.store
    yield f"embedder  {model_words(manifest, model_of(snapshot))}"
    yield f"sparse    {sparse_words(manifest)}"
    yield f"settings  {recipe_words(manifest)}"
    page = report_page_path(manifest.snapshot)
    if store.stat(page) is not None:
        yield f"report    {store.uri(page)}"

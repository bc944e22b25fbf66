"""Whether the files of a snapshot are those that its manifest names: asked before readers are sent there."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from transforms.model.errors import TableError
from transforms.table.layout import CHUNKS, DOCUMENTS, kind_of, snapshot_dir

if TYPE_CHECKING:
    from transforms.storage.protocol import Store
    from transforms.table.manifest import Manifest


def check_files(store: Store, manifest: Manifest) -> None:
    """Hold the listing against the manifest's files, and the files' rows against its counts, source by source.

    Raises:
        TableError: naming the first file that is missing or has another size, or the totals that differ.
    """
    folder = snapshot_dir(manifest.snapshot)
    sizes = {
        info.name: info.size
        for kind in (CHUNKS, DOCUMENTS)
        for page in store.list(f"{folder}{kind}/")
        for info in page
    }
    for file in manifest.files:
        found = sizes.get(folder + file.path)
        if found != file.bytes:
            raise TableError(
                f"{store.uri(folder + file.path)} should have {file.bytes:,} bytes and "
                f"{'is missing' if found is None else f'has {found:,}'}; "
                f"snapshot {manifest.snapshot} is not whole."
            )
    rows: Counter[tuple[str, str]] = Counter()
    for file in manifest.files:
        kind = kind_of(file.path)
        rows[file.source, kind] += file.rows
        rows["", kind] += file.rows
    counts = {name: source.counts for name, source in manifest.sources.items()} | {"": manifest.counts}
    unnamed = {source for source, _ in rows} - counts.keys()
    if unnamed:
        raise TableError(
            f"Snapshot {manifest.snapshot} has files of sources that it does not count: "
            f"{', '.join(sorted(unnamed))}; it is not whole."
        )
    for name, counted in counts.items():
        for kind in (CHUNKS, DOCUMENTS):
            if rows[name, kind] != counted[kind]:
                whose = f" of source `{name}`" if name else ""
                raise TableError(
                    f"The {kind} files{whose} in snapshot {manifest.snapshot} hold {rows[name, kind]:,} rows "
                    f"and {counted[kind]:,} were counted; it is not whole."
                )

"""Whether the files of a snapshot are those that its manifest names: asked before readers are sent there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.model.errors import TableError
from transforms.table.layout import CHUNKS, DOCUMENTS, kind_of, snapshot_dir

if TYPE_CHECKING:
    from transforms.storage.protocol import Store
    from transforms.table.manifest import Manifest


def check_files(store: Store, manifest: Manifest) -> None:
    """Hold the listing against the manifest's files, and the files' rows against its counts.

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
                f"snapshot {manifest.snapshot} was not published."
            )
    for kind in (CHUNKS, DOCUMENTS):
        rows = sum(file.rows for file in manifest.files if kind_of(file.path) == kind)
        if rows != manifest.counts[kind]:
            raise TableError(
                f"The {kind} files of snapshot {manifest.snapshot} hold {rows:,} rows and the sources count "
                f"{manifest.counts[kind]:,}; it was not published."
            )

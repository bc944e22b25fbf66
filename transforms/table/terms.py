"""The frequencies of a snapshot's terms, beside its rows: kept from one snapshot to the next by what changed.

A snapshot's statistics are those of its parent, without the chunks of files that are not in it any more, with those
of its new files. That follows from the two manifests and nothing else, so a run that died leaves no trace in them,
and reads no file that the run did not write or replace. Where the parent has none that fit, all files are counted.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from transforms.model.errors import NotFoundError, TableError
from transforms.model.ids import sha256_hex
from transforms.model.shard import FileInfo
from transforms.sparse.columns import INDICES
from transforms.sparse.statistics import TermStatistics, counted, summed
from transforms.table.damage import opened, parquet_file
from transforms.table.layout import CHUNKS, kind_of, snapshot_dir, terms_path
from transforms.table.manifest import read_manifest
from transforms.table.schema import TERMS
from transforms.table.writer import to_parquet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from transforms.storage.protocol import Store
    from transforms.table.manifest import Manifest
    from transforms.table.reader import Snapshot

_PARALLEL = 4
"""Files counted at once."""
_LOT = 64
"""Files of which counts may wait to be put together, a megabyte each."""
_CHUNKS = "parquetry.chunks"
"""Key of the number of chunks in the footer."""


def read_terms(snapshot: Snapshot) -> TermStatistics | None:
    """The frequencies of a snapshot's terms; None where its sparse vectors have no need of them.

    Raises:
        TableError: the file is missing or damaged.
    """
    return _read(snapshot.store, snapshot.manifest)


def fault_of_terms(snapshot: Snapshot) -> str:
    """What is wrong with the file, as the beginning of a sentence; "" where it is whole, or none is needed."""
    return _data(snapshot.store, snapshot.manifest)[1]


def write_terms(store: Store, manifest: Manifest) -> FileInfo | None:
    """Write the frequencies of a snapshot whose files are in place; None where it has no sparse vectors."""
    path = terms_path(manifest.snapshot)
    if manifest.sparse is None:
        # A run that died may have left some, for the same snapshot with other settings.
        store.delete([path])
        return None
    statistics = _from_parent(store, manifest)
    if statistics is None:
        statistics = count_terms(store, manifest)
    data = _to_parquet(statistics, manifest)
    store.write(path, data)
    return FileInfo("terms.parquet", "", len(statistics.ids), len(data), sha256_hex(data))


def count_terms(store: Store, manifest: Manifest) -> TermStatistics:
    """The frequencies of all chunks of a snapshot, counted anew."""
    return _counted(store, manifest, [file for file in manifest.files if kind_of(file.path) == CHUNKS])


def _from_parent(store: Store, manifest: Manifest) -> TermStatistics | None:
    """What the parent has, brought up to date; None where it has nothing that can be."""
    try:
        parent = None if manifest.parent is None else read_manifest(store, manifest.parent)
        before = None if parent is None else _read(store, parent)
        if parent is None or before is None or parent.sparse != manifest.sparse:
            return None
        gone, new = _only_in(parent, manifest), _only_in(manifest, parent)
        return before.add(_counted(store, manifest, new)).subtract(_counted(store, parent, gone))
    except TableError:
        # An old snapshot that is damaged stops no run.
        return None


def _only_in(one: Manifest, other: Manifest) -> list[FileInfo]:
    """Files of chunks that only the first of two snapshots has; the same bytes are the same file."""
    there = {(file.path, file.sha256) for file in other.files}
    return [
        file for file in one.files if kind_of(file.path) == CHUNKS and (file.path, file.sha256) not in there
    ]


def _counted(store: Store, manifest: Manifest, files: Sequence[FileInfo]) -> TermStatistics:
    folder = snapshot_dir(manifest.snapshot)

    def of_file(file: FileInfo) -> TermStatistics:
        return counted(_indices(store, folder + file.path))

    with ThreadPoolExecutor(_PARALLEL) as pool:
        lots = (files[first : first + _LOT] for first in range(0, len(files), _LOT))
        return summed(part for lot in lots for part in pool.map(of_file, lot))


def _indices(store: Store, path: str) -> Iterator[pa.Array]:
    with opened(store, path) as opened_file:
        file = parquet_file(opened_file)
        if INDICES in file.schema_arrow.names:
            for batch in file.iter_batches(columns=[INDICES]):
                yield batch[INDICES]


def _read(store: Store, manifest: Manifest) -> TermStatistics | None:
    data, fault = _data(store, manifest)
    if fault:
        # Unlike any other file of a snapshot it follows from the rest.
        raise TableError(f"{fault}. The next run of the job counts it anew, whatever else it has to do.")
    if not data:
        return None
    table = pq.read_table(pa.BufferReader(data))
    chunks = int(pq.read_metadata(pa.BufferReader(data)).metadata[_CHUNKS.encode()])
    ids, frequencies = (table[name].to_numpy() for name in TERMS.names)
    return TermStatistics(chunks, ids, frequencies)


def _data(store: Store, manifest: Manifest) -> tuple[bytes, str]:
    """The bytes of the file as it was written, none where none is needed; and what is wrong with it, if anything."""
    if manifest.terms is None:
        return b"", ""
    path = terms_path(manifest.snapshot)
    try:
        data = store.read(path)
    except NotFoundError:
        return b"", f"{store.uri(path)} is missing"
    if sha256_hex(data) != manifest.terms.sha256:
        return b"", f"{store.uri(path)} is damaged: its bytes are not those that were written"
    return data, ""


def _to_parquet(statistics: TermStatistics, manifest: Manifest) -> bytes:
    table = pa.table([statistics.ids, statistics.frequencies], schema=TERMS)
    totals = {
        _CHUNKS: str(statistics.chunks),
        "parquetry.sparse": manifest.sparse or "",
        "parquetry.occurrences": str(int(statistics.frequencies.sum())),
    }
    return to_parquet(table, manifest.recipe | totals)

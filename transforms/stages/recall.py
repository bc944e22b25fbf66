"""What a run need not make again, because some snapshot holds it: vectors by key, texts by content hash.

The rows that a shard had before are at hand anyway. For the rest, one index a process and run says where the
others are: in the snapshot that the run continues, in older ones, and in the shards that this run, or one that
died before it, has finished. Vectors never cross a shuffle; only the rows that are hits are read.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.embedders.registry import vector_recipe
from transforms.embedders.settings import settings_from_json
from transforms.model.errors import TableError
from transforms.storage.registry import open_store
from transforms.table.columns import completed
from transforms.table.history import published
from transforms.table.layout import CHUNKS, DOCUMENTS, kind_of, snapshot_dir
from transforms.table.lookup import HashIndex
from transforms.table.manifest import Manifest, read_manifest
from transforms.table.pointer import read_pointer
from transforms.table.reader import Snapshot
from transforms.table.schema import DOCUMENTS as DOCUMENT_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from transforms.stages.job import Job

NEWEST = 3
"""Snapshots before the one continued that are searched whatever they were made with; of others, the newest
of each recipe."""
CACHE_BYTES = 64 * 2**20
"""Vectors that a process keeps of those it embedded, for the shards that follow, and all that is kept with them."""
_ENTRY_BYTES = 340
"""What a vector that is kept takes besides its numbers: its key, its place in the order, the array's head."""


def recall_of(job: Job) -> Recall:
    """The one of this process and run; threads that ask at once get the same one."""
    with _making:
        return _recall(job)


class Recall:
    """Looks for vectors and texts. Nothing is read before the first look."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._store = open_store(job.table)
        self._recent: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()
        self._looking = threading.Lock()
        """Held while an index is made: of threads that ask at once, one makes it."""

    def vectors(self, keys: Sequence[str], dimension: int) -> dict[str, NDArray[np.float32]]:
        """The vectors of those keys that are known; NaN throughout where a text is known to have none."""
        with self._lock:
            found = {key: self._recent[key] for key in keys if key in self._recent}
        missing = pa.array([key for key in keys if key not in found], pa.string())
        if len(missing) and not self._job.full:
            with self._looking:
                index = self._vector_index
            for table in index.fetch(missing, ["embedding"]):
                found |= _rows(table, dimension)
        return found

    def made_here(self, keys: Iterable[str]) -> frozenset[str]:
        """Those of the keys whose vectors this process has made in this run."""
        with self._lock:
            return frozenset(key for key in keys if key in self._recent)

    def keep(self, keys: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Remember vectors for the shards that this process works on next, the latest ones.

        A text without a vector is asked for again: it may have been refused, and the embedder knows why.
        """
        most = CACHE_BYTES // (vectors.shape[1] * vectors.itemsize + _ENTRY_BYTES)
        has_one = np.asarray(np.isfinite(vectors).all(axis=1)).tolist()
        known = (pair for pair, ok in zip(zip(keys, vectors, strict=True), has_one, strict=True) if ok)
        with self._lock:
            self._recent.update(known)
            while len(self._recent) > most:
                self._recent.popitem(last=False)

    def documents(self, hashes: Sequence[str]) -> pa.Table:
        """Rows of documents read from objects with these content hashes, of whatever name and recipe.

        Of an object that was refused in part, what is missing from the rows is not known: it has none here.
        """
        tables = [DOCUMENT_COLUMNS.empty_table()]
        if not self._job.full and self._job.parent is not None and hashes:
            columns = [name for name in DOCUMENT_COLUMNS.names if name != "object_sha256"]
            with self._looking:
                index = self._text_index
            found = index.fetch(pa.array(hashes, pa.string()), columns, every=True)
            tables += [completed(table, DOCUMENT_COLUMNS) for table in found]
        rows = pa.concat_tables(tables)
        if not rows.num_rows:
            return rows
        with self._looking:
            refused = self._refused
        ids = pc.binary_join_element_wise(rows["source_name"], rows["object_name"], "\0")
        return rows.filter(pc.invert(pc.is_in(ids, refused)))

    @cached_property
    def _refused(self) -> pa.Array:
        """Objects with a rejection in any snapshot that is searched."""
        tables = [Snapshot(self._store, one).rejected() for one in self._snapshots]
        ids = [pc.binary_join_element_wise(t["source_name"], t["object_name"], "\0") for t in tables]
        none = pa.array([], pa.string())
        return pa.concat_arrays([none, *(chunk for column in ids for chunk in column.chunks)]).unique()

    @cached_property
    def _vector_index(self) -> HashIndex:
        wanted = vector_recipe(self._job.embedder)
        old = (one for one in self._snapshots if _vectors_of(one) in (wanted, None))
        return HashIndex(self._store, [*self._unfinished(), *_files(old, CHUNKS)], "embed_key")

    @cached_property
    def _text_index(self) -> HashIndex:
        return HashIndex(self._store, _files(self._snapshots, DOCUMENTS), "object_sha256")

    @cached_property
    def _snapshots(self) -> list[Manifest]:
        """The one continued, then those worth searching besides, the newest first."""
        if self._job.parent is None or read_pointer(self._store) is None:
            return []
        readable = filter(self._is_readable, published(self._store, damaged_too=False)[::-1])
        others = [one for one in readable if one.snapshot != self._job.parent]
        recipes = [sorted(one.recipe.items()) for one in others]
        searched = [
            one
            for place, one in enumerate(others)
            if place < NEWEST or recipes[place] not in recipes[:place]
        ]
        return [read_manifest(self._store, self._job.parent), *searched]

    def _is_readable(self, manifest: Manifest) -> bool:
        """Whether it is known what was rejected: an old snapshot that is damaged stops no run."""
        try:
            Snapshot(self._store, manifest).rejected()
        except TableError:
            return False
        return True

    def _unfinished(self) -> list[str]:
        """Files of this very snapshot: of shards that this run, or one that died, has finished."""
        folder = f"{snapshot_dir(self._job.snapshot)}{CHUNKS}/"
        return [info.name for page in self._store.list(folder) for info in page]


_making = threading.Lock()


@lru_cache(maxsize=1)
def _recall(job: Job) -> Recall:
    return Recall(job)


def _files(snapshots: Iterable[Manifest], kind: str) -> list[str]:
    """The files of one kind, each once however many snapshots it is linked into."""
    found: dict[str, str] = {}
    for snapshot in snapshots:
        folder = snapshot_dir(snapshot.snapshot)
        for file in snapshot.files:
            if kind_of(file.path) == kind:
                found.setdefault(file.sha256, folder + file.path)
    return list(found.values())


def _vectors_of(manifest: Manifest) -> str | None:
    """What made a snapshot's vectors; None where this program cannot tell."""
    try:
        return vector_recipe(settings_from_json(manifest.recipe["embedder"]))
    except (KeyError, ValueError, OSError):
        return None


def _rows(table: pa.Table, dimension: int) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Keys and vectors of rows."""
    vectors = table["embedding"].combine_chunks()
    has_one = vectors.is_valid().to_numpy(zero_copy_only=False)
    numbers = np.full((len(table), dimension), np.nan, np.float32)
    numbers[has_one] = vectors.flatten().to_numpy().reshape(-1, dimension)
    yield from zip(table["embed_key"].to_pylist(), numbers, strict=True)

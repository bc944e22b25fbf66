"""Collections of libraries that are an index and nothing else: a folder with the index and a Parquet file of the rows.

``COLLECTION/current.json`` names the two files that belong together; they are written under new names, and it last, so
that readers see the old pair or the new one. ``rows-N.parquet`` has for each 64-bit ``index_key`` the id and the other
columns, the two lists of a sparse vector among them. Keys are hashes of ids; of two ids with one hash the later one
gets the next key that is free. An alias is a symbolic link.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from transforms.loaders.protocol import Existing, Limits
from transforms.model.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from transforms.loaders.address import Address
    from transforms.loaders.protocol import Metric, Target

KEY = "index_key"
_CURRENT = "current.json"
_STATE = "parquetry_state.json"


class Vectors(Protocol):
    """An index in memory: vectors by keys."""

    def add(self, keys: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Add vectors under keys that it does not have."""

    def remove(self, keys: NDArray[np.int64]) -> None:
        """Remove keys that it has."""

    def save(self, path: Path) -> None:
        """Write it to a file."""

    def __len__(self) -> int: ...


class Library(Protocol):
    """A library of indexes."""

    name: str
    suffix: str
    metrics: frozenset[Metric]

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What it raises."""

    def new(self, target: Target) -> Vectors:
        """An empty index."""

    def load(self, path: Path, target: Target) -> Vectors:
        """The index of a file."""


@dataclass(frozen=True, slots=True)
class _Current:
    """What ``current.json`` says."""

    number: int
    rows: str
    index: str
    count: int
    dimension: int
    metric: Metric


class IndexFiles:
    """A folder of collections. Changes are held in memory until ``finish`` writes the two files anew."""

    def __init__(self, address: Address, library: Library) -> None:
        """Raises ConfigError where the folder's parent is not there."""
        self._root = address.local_path()
        self._library = library
        self._changes: list[pa.RecordBatch | pa.Array] = []
        """Rows to write and ids to delete, in their order."""
        self.name = library.name
        self.limits = Limits(
            metrics=library.metrics, batch_rows=16_384, aliases=True, sparse=True, atomic=True
        )

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        return self._library.errors

    def close(self) -> None:
        self._changes.clear()

    def resolve(self, name: str) -> str:
        folder = self._folder(name)
        return str(folder.readlink()) if folder.is_symlink() else name

    def describe(self, collection: str) -> Existing | None:
        current = self._current(collection)
        return None if current is None else Existing(current.dimension, current.metric)

    def state(self, collection: str) -> str | None:
        path = self._folder(collection) / _STATE
        return path.read_text(encoding="ascii") if path.exists() else None

    def set_state(self, collection: str, state: str) -> None:
        folder = self._folder(collection)
        folder.mkdir(parents=True, exist_ok=True)
        _put(folder / _STATE, state)

    def drop(self, collection: str) -> None:
        current = self._current(collection)
        if current is not None:
            for name in (_CURRENT, current.rows, current.index):
                (self._folder(collection) / name).unlink(missing_ok=True)

    def replace(self, target: Target, batches: Iterator[pa.RecordBatch]) -> None:
        if KEY in target.schema.names:
            raise ConfigError(f"{self.name} keeps its own keys as {KEY}: give that column another name.")
        self._changes.clear()
        rows, vectors = _empty(target), self._library.new(target)
        self._write(target, *_added(rows, vectors, target, batches))

    def upsert(self, target: Target, batch: pa.RecordBatch) -> None:  # noqa: ARG002 - held until the end
        self._changes.append(batch)

    def delete(self, target: Target, ids: pa.Array) -> None:  # noqa: ARG002 - as above
        if len(ids):
            self._changes.append(ids)

    def finish(self, target: Target) -> None:
        if not self._changes:
            return
        current = self._current(target.collection)
        if current is None:
            rows, vectors = _empty(target), self._library.new(target)
        else:
            folder = self._folder(target.collection)
            rows = pq.read_table(folder / current.rows)
            vectors = self._library.load(folder / current.index, target)
        for change in self._changes:
            rows = _removed(
                rows, vectors, target, change.column(0) if isinstance(change, pa.RecordBatch) else change
            )
            if isinstance(change, pa.RecordBatch):
                rows, vectors = _added(rows, vectors, target, [change])
        self._write(target, rows, vectors)
        self._changes.clear()

    def count(self, collection: str) -> int:
        current = self._current(collection)
        return 0 if current is None else current.count

    def held(self, target: Target, ids: Sequence[str]) -> set[str]:
        current = self._current(target.collection)
        if current is None:
            return set()
        there = pq.read_table(self._folder(target.collection) / current.rows, columns=[target.id])[
            target.id
        ]
        return set(ids) & set(
            there.filter(pc.is_in(there, value_set=pa.array(ids, pa.string()))).to_pylist()
        )

    def switch(self, alias: str, collection: str) -> None:
        link = self._root / f".{alias}.link"
        link.unlink(missing_ok=True)
        link.symlink_to(collection)
        link.replace(self._folder(alias))

    def _folder(self, collection: str) -> Path:
        """Raises ConfigError for a name that would lead out of the folder of collections."""
        if collection == ".." or Path(collection).name != collection:
            raise ConfigError(
                f"{collection!r} is no name of a collection of {self.name}: it names a folder."
            )
        return self._root / collection

    def _current(self, collection: str) -> _Current | None:
        path = self._folder(collection) / _CURRENT
        return _Current(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None

    def _write(self, target: Target, rows: pa.Table, vectors: Vectors) -> None:
        if len(vectors) != rows.num_rows:
            raise OSError(f"the index has {len(vectors):,} vectors and there are {rows.num_rows:,} rows")
        folder = self._folder(target.collection)
        folder.mkdir(parents=True, exist_ok=True)
        before = self._current(target.collection)
        number = before.number + 1 if before else 1
        names = f"rows-{number}.parquet", f"index-{number}.{self._library.suffix}"
        pq.write_table(rows, folder / names[0], compression="zstd")
        vectors.save(folder / names[1])
        for name in names:
            _sync(folder / name)
        current = {
            "number": number,
            "rows": names[0],
            "index": names[1],
            "count": rows.num_rows,
            "dimension": target.dimension,
            "metric": target.metric,
        }
        _put(folder / _CURRENT, json.dumps(current, indent=2))
        for path in folder.iterdir():
            if path.name.startswith(("rows-", "index-")) and path.name not in names:
                path.unlink()


def keys_of(ids: Iterable[str], used: set[int]) -> NDArray[np.int64]:
    """A key for each of some ids, none of those ``used`` and no two the same; never negative. They are used then."""
    hashes = b"".join(blake2b(name.encode(), digest_size=8).digest() for name in ids)
    keys = (np.frombuffer(hashes, "<u8") >> np.uint64(1)).astype(np.int64)
    found = set(keys.tolist())
    if len(found) == len(keys) and used.isdisjoint(found):
        used |= found
        return keys
    for place, hashed in enumerate(keys.tolist()):
        key = hashed
        while key in used:
            key = (key + 1) & (2**63 - 1)
        used.add(key)
        keys[place] = key
    return keys


def _empty(target: Target) -> pa.Table:
    columns = [field for field in target.schema if field.name != target.vector]
    return pa.schema([pa.field(KEY, pa.int64(), nullable=False), *columns]).empty_table()


def _added(
    rows: pa.Table, vectors: Vectors, target: Target, batches: Iterable[pa.RecordBatch]
) -> tuple[pa.Table, Vectors]:
    used = set(rows[KEY].to_pylist())
    parts = [rows]
    for batch in batches:
        keys = keys_of(batch.column(0).to_pylist(), used)
        numbers = batch.column(1).flatten().to_numpy(zero_copy_only=True)
        vectors.add(keys, numbers.reshape(-1, target.dimension))
        columns = [pa.array(keys), *(batch[name] for name in rows.schema.names[1:])]
        parts.append(pa.Table.from_arrays(columns, schema=rows.schema))
    return pa.concat_tables(parts), vectors


def _removed(rows: pa.Table, vectors: Vectors, target: Target, ids: pa.Array) -> pa.Table:
    leaves = pc.is_in(rows[target.id], value_set=ids)
    keys = rows[KEY].filter(leaves).to_numpy()
    if len(keys):
        vectors.remove(keys)
        rows = rows.filter(pc.invert(leaves))
    return rows


def _put(path: Path, content: str) -> None:
    """Replace a small file in one step."""
    new = path.with_name(f".{path.name}.new")
    new.write_text(content, encoding="utf-8")
    _sync(new)
    new.replace(path)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

"""Files of an export: cut by rows and bytes, one in memory at a time, numbered from 1.

The same rows give the same bytes. Text files are what one request takes, or lines; Parquet files have plain types
(no Arrow schema beside them) and row groups of tens of MiB.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from transforms.model.ids import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Callable

    from transforms.exports.rules import Rule
    from transforms.storage.protocol import Store

PARQUET_BYTES = 128 * 2**20
"""Of rows in memory, for a file: far above the row groups that stores like, far below what they take."""
LINES_BYTES = 64 * 2**20
"""Of a file of lines that no request has to hold whole."""
_GROUP_BYTES = 32 * 2**20


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """One file of an export; ``path`` is relative to where the export is."""

    path: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Cap:
    """What one file holds at most."""

    rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands in a text file besides its rows."""

    head: bytes = b""
    between: bytes = b"\n"
    tail: bytes = b"\n"

    @property
    def size(self) -> int:
        """Bytes of head and tail."""
        return len(self.head) + len(self.tail)


JSON_LINES = Frame()


@dataclass(frozen=True, slots=True)
class TextOutput:
    """Rows as text. ``encode`` delivers a column ``line``, the others are for ``rules``."""

    path: str
    """With a place for the number: ``upserts/{:06}.json``."""
    encode: Callable[[pa.RecordBatch], pa.RecordBatch]
    cap: Cap
    frame: Frame = JSON_LINES
    rules: tuple[Rule, ...] = ()
    """Of what is encoded."""

    def open(self, store: Store) -> TextParts:
        """A writer of such files."""
        return TextParts(store, self)


@dataclass(frozen=True, slots=True)
class ParquetOutput:
    """Rows as Parquet, with the columns that ``encode`` delivers."""

    path: str
    encode: Callable[[pa.RecordBatch], pa.RecordBatch]
    cap: Cap = Cap(2**31, PARQUET_BYTES)
    rules: tuple[Rule, ...] = ()

    def open(self, store: Store) -> ParquetParts:
        """A writer of such files."""
        return ParquetParts(store, self.path, self.cap)


Output = TextOutput | ParquetOutput


class Parts(Protocol):
    """Takes encoded rows and writes files of them."""

    files: list[ExportedFile]

    def add(self, batch: pa.RecordBatch) -> None:
        """Take rows; a file that is full is written."""

    def close(self) -> list[ExportedFile]:
        """Write what is left; all files."""


@dataclass(slots=True)
class TextParts:
    """Writes text files. A row alone must fit: ``row_too_large`` of the driver sees to that."""

    store: Store
    output: TextOutput
    files: list[ExportedFile] = field(default_factory=list)
    _lines: list[bytes] = field(default_factory=list)
    _bytes: int = 0
    _rows: int = 0

    def add(self, batch: pa.RecordBatch) -> None:
        lines = batch["line"]
        between = self.output.frame.between
        # One text with what stands between behind each row: no object is made for a row.
        ended = pc.binary_join_element_wise(lines, between.decode(), "")
        sizes = pc.binary_length(ended).to_numpy().astype(np.int64)
        first = 0
        while first < len(ended):
            count = self._fitting(sizes[first:])
            if count == 0:
                self._flush()
                continue
            self._take(ended.slice(first, count), int(sizes[first : first + count].sum()))
            first += count

    def close(self) -> list[ExportedFile]:
        if self._rows:
            self._flush()
        return self.files

    def _fitting(self, sizes: np.ndarray[tuple[int], np.dtype[np.int64]]) -> int:
        cap, frame = self.output.cap, self.output.frame
        # The last row has nothing behind it but the tail.
        room = cap.bytes - frame.size - self._bytes + len(frame.between)
        return min(int(np.searchsorted(np.cumsum(sizes), room, "right")), cap.rows - self._rows)

    def _take(self, ended: pa.Array, size: int) -> None:
        self._lines.append(_bytes_of(ended))
        self._bytes += size
        self._rows += len(ended)

    def _flush(self) -> None:
        frame = self.output.frame
        body = b"".join(self._lines)
        data = frame.head + body[: len(body) - len(frame.between)] + frame.tail
        self.files.append(
            written(self.store, self.output.path.format(len(self.files) + 1), data, self._rows)
        )
        self._lines, self._bytes, self._rows = [], 0, 0


@dataclass(slots=True)
class ParquetParts:
    """Writes Parquet files, each a little over its cap of bytes at most before it is compressed."""

    store: Store
    path: str
    cap: Cap
    files: list[ExportedFile] = field(default_factory=list)
    _batches: list[pa.RecordBatch] = field(default_factory=list)
    _bytes: int = 0
    _rows: int = 0

    def add(self, batch: pa.RecordBatch) -> None:
        while batch.num_rows:
            taken = batch.slice(0, self.cap.rows - self._rows)
            self._batches.append(taken)
            self._rows += taken.num_rows
            self._bytes += taken.nbytes
            batch = batch.slice(taken.num_rows)
            if self._rows == self.cap.rows or self._bytes >= self.cap.bytes:
                self._flush()

    def close(self) -> list[ExportedFile]:
        if self._rows:
            self._flush()
        return self.files

    def _flush(self) -> None:
        table = pa.Table.from_batches(self._batches)
        path = self.path.format(len(self.files) + 1)
        self.files.append(written(self.store, path, parquet_bytes(table), self._rows))
        self._batches, self._bytes, self._rows = [], 0, 0


def parquet_bytes(table: pa.Table) -> bytes:
    """The table as one Parquet file of plain types."""
    sink = pa.BufferOutputStream()
    group = max(1, min(table.num_rows, _GROUP_BYTES * table.num_rows // max(1, table.nbytes)))
    pq.write_table(
        table.replace_schema_metadata(None),
        sink,
        row_group_size=group,
        compression="zstd",
        compression_level=1,
        store_schema=False,
    )
    return bytes(sink.getvalue())


def written(store: Store, path: str, data: bytes, rows: int) -> ExportedFile:
    """Write one file and say what it is."""
    store.write(path, data)
    return ExportedFile(path, rows, len(data), sha256_hex(data))


def _bytes_of(texts: pa.Array) -> bytes:
    """The texts of an array without nulls, one behind the other."""
    offsets = np.frombuffer(texts.buffers()[1], np.int32)
    first, last = offsets[texts.offset], offsets[texts.offset + len(texts)]
    data = texts.buffers()[2]
    return b"" if data is None else data[int(first) : int(last)].to_pybytes()

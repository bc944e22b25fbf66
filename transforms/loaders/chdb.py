"""ClickHouse's engine in this process, on a folder: one folder a process at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from chdb import ChdbError, session

from transforms.loaders.protocol import Names

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class ChdbEngine:
    """A session on a folder, in the database ``default``."""

    errors: tuple[type[Exception], ...] = (ChdbError, RuntimeError)
    names: Names | None = Names(r"[^*?{}]+", "it holds none of * ? { }, which stand for files here")

    def __init__(self, folder: Path) -> None:
        self._session = session.Session(str(folder))

    def run(self, statement: str) -> None:
        self._session.query(statement)

    def values(self, query: str) -> list[str]:
        data = self._session.query(query, "ArrowStream").bytes()
        if not data:
            return []
        column = pa.ipc.open_stream(data).read_all().column(0)
        return [str(value) for value in column.cast(pa.string()).to_pylist()]

    def insert(self, statement: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
        rows = pa.RecordBatchReader.from_batches(schema, batches)  # noqa: F841 - it is looked up by its name
        self._session.query(f"{statement} SELECT * FROM Python(rows)")

    def close(self) -> None:
        self._session.close()

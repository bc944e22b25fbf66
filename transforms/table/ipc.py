"""Arrow tables as bytes, for the few places where columns cross a shuffle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable


def to_ipc(table: pa.Table) -> bytes:
    """One Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def from_ipc(streams: Iterable[bytes], schema: pa.Schema) -> pa.Table:
    """All streams as one table of ``schema``, in their order."""
    tables = [pa.ipc.open_stream(stream).read_all() for stream in streams]
    return pa.concat_tables([schema.empty_table(), *tables])

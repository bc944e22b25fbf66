"""Snapshots of a small table, published as a run would."""

import pyarrow as pa
import pytest

from transforms.model.ids import sha256_hex
from transforms.storage.local import LocalStore
from transforms.table.layout import CHUNKS, DOCUMENTS, shard_path
from transforms.table.publish import Draft
from transforms.table.schema import CHUNKS as CHUNK_COLUMNS
from transforms.table.schema import DOCUMENTS as DOCUMENT_COLUMNS
from transforms.table.writer import write_table

_ZERO = {"string": "", "int64": 0, "int32": 0, "int8": 0}


def rows(schema: pa.Schema, given: list[dict]) -> pa.Table:
    """Rows with the columns given, and in the others the plainest value that the schema allows."""

    def plain(field):
        if field.nullable:
            return None
        return [] if pa.types.is_list(field.type) else _ZERO[str(field.type)]

    return pa.Table.from_pylist(
        [{field.name: plain(field) for field in schema} | row for row in given], schema=schema
    )


def chunk(doc_id: str, index: int, text: str = "text", vector=(1.0, 0.0), changed_in: int = 1) -> dict:
    return {
        "chunk_id": f"{doc_id}-{index}",
        "source_name": "docs",
        "doc_id": doc_id,
        "chunk_index": index,
        "text": text,
        "text_sha256": sha256_hex(text),
        "embedding": list(vector),
        "changed_in": changed_in,
    }


@pytest.fixture
def store(tmp_path):
    return LocalStore(str(tmp_path / "table"))


@pytest.fixture
def write_shard():
    """Write one shard of the source "docs": a chunk and a document row for each document."""

    def write(store, number, shard, docs, text="text"):
        chunks = rows(CHUNK_COLUMNS, [chunk(doc, 0, text, changed_in=number) for doc in docs])
        documents = rows(
            DOCUMENT_COLUMNS,
            [
                {
                    "source_name": "docs",
                    "doc_id": doc,
                    "text_sha256": sha256_hex(text),
                    "chunk_count": 1,
                    "changed_in": number,
                }
                for doc in docs
            ],
        )
        return (
            write_table(store, shard_path(number, CHUNKS, "docs", shard), chunks, "docs", {"chunk": "c1"}),
            write_table(
                store, shard_path(number, DOCUMENTS, "docs", shard), documents, "docs", {"chunk": "c1"}
            ),
        )

    return write


@pytest.fixture
def draft():
    def make(number, parent=None, new=(), kept=(), rejected=(), deleted=None, run_id=None, **counts):
        files = [*new, *kept]
        total = {
            "documents": sum(file.rows for file in files if file.path.startswith("documents/")),
            "chunks": sum(file.rows for file in files if file.path.startswith("chunks/")),
            "embedded": 0,
            "reused": 0,
            "rejected": len(rejected),
            "deleted": sum(len(ids) for ids in (deleted or {}).values()),
        } | counts
        return Draft(
            number=number,
            parent=parent,
            run_id=run_id or f"run-{number}",
            recipe={"chunk": "c1"},
            new_files=tuple(new),
            kept_files=tuple(kept),
            rejected=tuple(rejected),
            deleted=deleted or {},
            counts={"docs": total},
            totals=total,
        )

    return make

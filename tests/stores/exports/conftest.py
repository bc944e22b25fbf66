"""Tables with rows of one's own, as no job would write them."""

import pyarrow as pa
import pytest

from transforms.storage.local import LocalStore
from transforms.table.layout import CHUNKS, DOCUMENTS, shard_path
from transforms.table.publish import Draft, publish
from transforms.table.schema import CHUNKS as CHUNK_COLUMNS
from transforms.table.schema import DOCUMENTS as DOCUMENT_COLUMNS
from transforms.table.writer import write_table

MODEL = "m@1"
_ZERO = {"string": "", "int64": 0, "int32": 0, "int8": 0}


def plain(schema, given):
    """Rows with the columns given, and in the others the plainest value that the schema allows."""

    def zero(field):
        if field.nullable:
            return None
        return [] if pa.types.is_list(field.type) else _ZERO[str(field.type)]

    return pa.Table.from_pylist(
        [{field.name: zero(field) for field in schema} | row for row in given], schema
    )


def row(identifier, **given):
    """One row of the chunk table that every store takes, but for what is given."""
    return {
        "chunk_id": identifier,
        "source_name": "docs",
        "doc_id": "a.md",
        "text": "text",
        "metadata": "{}",
        "embedding": [1.0, 0.5],
        "embed_model": MODEL,
        "embed_dim": 2,
        "changed_in": 1,
    } | given


@pytest.fixture
def table_of(tmp_path):
    """A table with these rows, in the order of their snapshots: ``table_of([rows of 1], [rows of 2], ...)``.

    ``sparse`` is what made their sparse vectors, one of all snapshots or a list of them.
    """

    def make(*snapshots, sparse=None):
        store = LocalStore(str(tmp_path / "table"))
        before = set()
        for number, rows in enumerate(snapshots, 1):
            ids = {one["chunk_id"] for one in rows}
            encoder = sparse[number - 1] if isinstance(sparse, list) else sparse
            publish_rows(store, number, rows, sorted(before - ids), encoder)
            before = ids
        return tmp_path / "table"

    return make


def publish_rows(store, number, rows, gone, sparse=None):
    documents = [{"source_name": "docs", "doc_id": "a.md", "chunk_count": len(rows), "changed_in": number}]
    new = [
        write_table(store, shard_path(number, kind, "docs", "one"), plain(schema, given), "docs", {})
        for kind, schema, given in (
            (CHUNKS, CHUNK_COLUMNS, rows),
            (DOCUMENTS, DOCUMENT_COLUMNS, documents),
        )
    ]
    counts = {
        "documents": 1,
        "chunks": len(rows),
        "embedded": 0,
        "reused": 0,
        "rejected": 0,
        "deleted": len(gone),
    }
    draft = Draft(
        number=number,
        parent=number - 1 or None,
        run_id=f"run-{number}",
        recipe={},
        new_files=tuple(new),
        kept_files=(),
        rejected=(),
        deleted={"docs": tuple(gone)},
        counts={"docs": counts},
        totals=counts,
        sparse=sparse,
    )
    publish(store, draft, lambda manifest: None)

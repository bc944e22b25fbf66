"""What lies between two snapshots of a table: documents and chunks that came, changed and went.

The rows themselves are compared and not their ``changed_in``: the two need not be parent and child, and after a
rollback they may lie on different branches. Files that both have are not opened.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from transforms.table.columns import completed, equal_rows
from transforms.table.damage import opened, read_parquet
from transforms.table.layout import CHUNKS, DOCUMENTS, snapshot_dir
from transforms.table.reader import SCHEMAS, Snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transforms.model.shard import FileInfo
    from transforms.storage.protocol import Store

_KEYS = {CHUNKS: "chunk_id", DOCUMENTS: "doc_id"}
_DECIDED_BY_OTHERS = ("text", "embed_text", "embedding", "blocks", "pages")
"""Large columns, each of which has a hash or a recipe in another column."""
_NO_CONTENT = ("changed_in", "object_token")


@dataclass(frozen=True, slots=True)
class Change:
    """Ids of rows, in their order."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.gone)


@dataclass(frozen=True, slots=True)
class SourceChange:
    """What happened to one source."""

    documents: Change
    chunks: Change


def compare_snapshots(store: Store, before: int, after: int) -> dict[str, SourceChange]:
    """By source of either snapshot what has to be done to come from ``before`` to ``after``.

    Raises:
        TableError: one of them is not there, or a file of it is damaged.
    """
    old, new = Snapshot.open(store, before), Snapshot.open(store, after)
    names = sorted(old.manifest.sources.keys() | new.manifest.sources.keys())
    return {
        name: SourceChange(_change(old, new, DOCUMENTS, name), _change(old, new, CHUNKS, name))
        for name in names
    }


def _change(old: Snapshot, new: Snapshot, kind: str, source: str) -> Change:
    mine, theirs = list(old.files(kind, source)), list(new.files(kind, source))
    same = {file.sha256 for file in mine} & {file.sha256 for file in theirs}
    left = _rows(old, kind, [file for file in mine if file.sha256 not in same])
    right = _rows(new, kind, [file for file in theirs if file.sha256 not in same])
    key = _KEYS[kind]
    place = pc.index_in(right[key], value_set=left[key].combine_chunks())
    in_both = right.filter(place.is_valid())
    equal = equal_rows(in_both, left.take(place.drop_null()), besides=_NO_CONTENT)
    gone = pc.invert(pc.is_in(left[key], value_set=right[key].combine_chunks()))
    return Change(
        added=_ids(right.filter(place.is_null()), key),
        changed=_ids(in_both.filter(pc.invert(equal)), key),
        gone=_ids(left.filter(gone), key),
    )


def _rows(snapshot: Snapshot, kind: str, files: Sequence[FileInfo]) -> pa.Table:
    columns = [field for field in SCHEMAS[kind] if field.name not in _DECIDED_BY_OTHERS]
    schema = pa.schema(columns)
    tables = [schema.empty_table()]
    for file in files:
        with opened(snapshot.store, snapshot_dir(snapshot.manifest.snapshot) + file.path) as found:
            tables.append(completed(read_parquet(found, schema.names), schema))
    return pa.concat_tables(tables)


def _ids(rows: pa.Table, key: str) -> tuple[str, ...]:
    return tuple(sorted(rows[key].to_pylist()))

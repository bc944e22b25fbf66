"""Put a shard's new rows and its former ones together.

New rows replace those of the same object. A document that failed keeps its last rows, marked stale.
A row that is equal to the one of the same id before keeps the number of the snapshot it changed in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from transforms.stages.renew import with_versions
from transforms.table.columns import count_true, equal_rows, replace_column, sorted_by
from transforms.table.splice import spliced

if TYPE_CHECKING:
    from collections.abc import Iterable

    from transforms.stages.work import ChunkedShard, EmbeddedShard

_NOT_COMPARED = ("changed_in", "embedding")
"""A vector is the same where its ``embed_key`` is."""


@dataclass(frozen=True, slots=True)
class MergedShard:
    """The shard's rows as they are published, and what they no longer hold."""

    documents: pa.Table
    chunks: pa.Table
    deleted: tuple[str, ...]
    """Chunk ids that were there before and are not now."""
    gone: int
    """Documents that were there before and are not now."""
    differs: bool
    """Whether any row, of documents too, is new, other or gone."""


def merge_shard(shard: EmbeddedShard, snapshot: int, *, full: bool = False) -> MergedShard:
    """All rows of the shard in the new snapshot, ordered by document and place.

    In a ``full`` run vectors are compared too: they were computed again, whatever their keys.
    """
    former, old_chunks = shard.carried.documents, shard.carried.chunks
    kept = set(former["doc_id"].filter(is_carried(shard)).to_pylist())
    new_chunks = _keep_numbers(shard.chunks, old_chunks, "chunk_id", vectors=full)
    new_documents = _keep_numbers(shard.documents, former, "doc_id", vectors=full)
    chunks = spliced(old_chunks, kept, new_chunks)
    gone = pc.invert(pc.is_in(old_chunks["chunk_id"], chunks["chunk_id"].combine_chunks()))
    documents = spliced(_with_versions(shard), kept, new_documents)
    documents = _number_statuses(documents, former, snapshot)
    deleted = tuple(old_chunks["chunk_id"].filter(gone).to_pylist())
    changed = any(pc.any(pc.equal(rows["changed_in"], snapshot)).as_py() for rows in (chunks, documents))
    same_documents = documents.equals(sorted_by(former, "doc_id"))
    lost = count_true(_not_in(former["doc_id"], documents["doc_id"].to_pylist()))
    return MergedShard(documents, chunks, deleted, lost, bool(deleted or changed or not same_documents))


def is_carried(shard: ChunkedShard | EmbeddedShard) -> pa.ChunkedArray:
    """Which of the former documents stay: neither gone nor replaced, or not to be read again."""
    former = shard.carried.documents
    read = {*shard.carried.read, *shard.documents["object_name"].to_pylist()}
    replaced = read | set(shard.plan.drops)
    return pc.or_(_is_stale(shard), _not_in(former["object_name"], replaced))


def _is_stale(shard: ChunkedShard | EmbeddedShard) -> pa.ChunkedArray:
    """Which of the former documents stay because they, or what may be they, could not be read."""
    return pc.is_in(shard.carried.documents["doc_id"], pa.array(shard.carried.stale, pa.string()))


def _not_in(column: pa.ChunkedArray, values: Iterable[str]) -> pa.ChunkedArray:
    return pc.invert(pc.is_in(column, pa.array(list(values), pa.string())))


def _with_versions(shard: EmbeddedShard) -> pa.Table:
    """The former documents: touched ones with the version seen now, failed ones marked stale."""
    infos = {info.name: info for info in shard.touched}
    documents = with_versions(shard.carried.documents, infos)
    failed = pa.array([rejection.object_name for rejection in shard.rejections], pa.string())
    is_old = pc.or_(pc.is_in(documents["object_name"], failed), _is_stale(shard))
    statuses = pc.if_else(is_old, "stale", documents["status"])
    return replace_column(documents, "status", statuses)


def _number_statuses(documents: pa.Table, old: pa.Table, snapshot: int) -> pa.Table:
    """A document that has become stale has changed, though the rest of its row has not."""
    place = pc.index_in(documents["doc_id"], value_set=old["doc_id"].combine_chunks())
    other = pc.fill_null(pc.not_equal(documents["status"], old["status"].take(place)), fill_value=False)
    numbers = pc.if_else(other, pa.scalar(snapshot, pa.int64()), documents["changed_in"])
    return replace_column(documents, "changed_in", numbers)


def _keep_numbers(new: pa.Table, old: pa.Table, key: str, *, vectors: bool) -> pa.Table:
    """``new`` with the old ``changed_in`` wherever the row of the same key is equal otherwise."""
    found = pc.index_in(new[key], value_set=old[key].combine_chunks())
    places = [place for place, valid in enumerate(found.is_valid().to_pylist()) if valid]
    if not places:
        return new
    mine = new.take(pa.array(places, pa.int64()))
    theirs = old.take(found.drop_null())
    same = equal_rows(mine, theirs, besides=_NOT_COMPARED[: 1 if vectors else 2]).to_pylist()
    numbers = new["changed_in"].to_pylist()
    before = theirs["changed_in"].to_pylist()
    for place, number, equal in zip(places, before, same, strict=True):
        if equal:
            numbers[place] = number
    return replace_column(new, "changed_in", pa.array(numbers, pa.int64()))

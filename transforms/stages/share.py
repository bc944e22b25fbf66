"""Whether so many documents were rejected that something must have broken.

What is counted is documents: a rejected one whose last rows stay is among the table's documents, and not one more.
A type that is not read is no sign that something broke, nor is a part of an object without text, unless that
document was read before.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from transforms.model.ids import id_inside, id_part

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from transforms.model.shard import Rejection
    from transforms.table.reader import Snapshot

_NOT_READ = "unsupported_type"
_WITHOUT_TEXT = "empty"


def too_many_rejected(
    rejected: Sequence[Rejection], documents: int, allowed: float, parent: Snapshot | None
) -> str:
    """What to say of the rejected documents if they are more than the share allowed, else "".

    Args:
        rejected: all of them, also those that were rejected before.
        documents: how many the snapshot would have, rows that stay included.
        allowed: the share of all documents that may be rejected.
        parent: the snapshot before, with the rows that stay.
    """
    if len(rejected) <= allowed * documents:
        # However they are counted; so most runs need not look into the snapshot before.
        return ""
    has_rows = _rows_of(rejected, parent)
    counted = [one for one in rejected if not _is_no_sign(one) or has_rows(one)]
    everything = documents + sum(not has_rows(one) for one in counted)
    if len(counted) <= allowed * everything:
        return ""
    return (
        f"Nothing was published: {len(counted):,} of {everything:,} documents were rejected, more than "
        f"limits.max_rejected_share = {allowed} allows; files of types that are not read do not count. Mend or "
        "exclude them, or raise the share: what was read and embedded is kept for the next run."
    )


def _is_no_sign(one: Rejection) -> bool:
    return one.reason == _NOT_READ or (one.reason == _WITHOUT_TEXT and not _is_whole(one))


def _is_whole(one: Rejection) -> bool:
    return one.doc_id == id_part(one.object_name)


def _rows_of(rejected: Sequence[Rejection], parent: Snapshot | None) -> Callable[[Rejection], bool]:
    """Whether a rejected document had rows in the snapshot before: those stay."""
    known = _known(rejected, parent) if parent is not None else {}

    def has_rows(one: Rejection) -> bool:
        ids = known.get((one.source, one.object_name), ())
        inside = id_inside(one.doc_id, "")
        return any(_is_whole(one) or doc_id == one.doc_id or doc_id.startswith(inside) for doc_id in ids)

    return has_rows


def _known(rejected: Sequence[Rejection], parent: Snapshot) -> Mapping[tuple[str, str], Sequence[str]]:
    """The ids of former documents of the objects that were rejected, whole or in part."""
    names: defaultdict[str, set[str]] = defaultdict(set)
    for one in rejected:
        names[one.source].add(one.object_name)
    known: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for source, objects in names.items():
        wanted = pa.array(sorted(objects), pa.string())
        for batch in parent.documents(["doc_id", "object_name"], source=source):
            rows = batch.filter(pc.is_in(batch["object_name"], wanted))
            for doc_id, name in zip(
                rows["doc_id"].to_pylist(), rows["object_name"].to_pylist(), strict=True
            ):
                known[source, name].append(doc_id)
    return known

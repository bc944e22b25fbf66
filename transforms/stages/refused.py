"""What becomes of a document of which the embedder refused a text: its last good rows stay.

The document is a rejection; the other documents of its object, and of the shard, go on as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from transforms.embedders.protocol import RefusesTexts
from transforms.model.objects import ObjectInfo
from transforms.planning.reject import rejection
from transforms.stages.failed import without_other_vectors
from transforms.table.columns import replace_column

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from transforms.embedders.protocol import Embedder
    from transforms.model.shard import Rejection
    from transforms.stages.job import SourceSpec
    from transforms.stages.work import ChunkedShard


def without_refused(
    shard: ChunkedShard,
    chunks: pa.Table,
    embedder: Embedder,
    asked: NDArray[np.int64],
    source: SourceSpec,
) -> tuple[pa.Table, pa.Table, list[Rejection]]:
    """Documents and chunks with the former rows in place of those of refused documents.

    Args:
        shard: the shard before embedding.
        chunks: its chunks with their vectors.
        embedder: what embedded them.
        asked: the places of the chunks that it was asked for.
        source: the shard's source.
    """
    reasons = _reasons(shard.chunks, embedder, asked)
    if not reasons:
        return shard.documents, chunks, []
    ids = pa.array(list(reasons), pa.string())
    former = shard.carried.documents
    former = former.filter(pc.is_in(former["doc_id"], ids))
    stale = pa.array(["stale"] * former.num_rows, pa.string())
    old = shard.carried.chunks
    kept = without_other_vectors(old.filter(pc.is_in(old["doc_id"], ids)), former, source)
    return (
        pa.concat_tables([_others(shard.documents, ids), replace_column(former, "status", stale)]),
        pa.concat_tables([_others(chunks, ids), kept]),
        _rejections(shard.documents, reasons, source),
    )


def _reasons(chunks: pa.Table, embedder: Embedder, asked: NDArray[np.int64]) -> dict[str, tuple[str, str]]:
    """The first refusal of each document that has one."""
    if not isinstance(embedder, RefusesTexts):
        return {}
    reasons: dict[str, tuple[str, str]] = {}
    for place in asked.tolist():
        refusal = embedder.refusal(chunks["embed_text"][place].as_py())
        if refusal is not None:
            reason, detail = refusal
            where = f"chunk {chunks['chunk_index'][place].as_py() + 1}: {detail}"
            reasons.setdefault(chunks["doc_id"][place].as_py(), (reason, where))
    return reasons


def _others(table: pa.Table, ids: pa.Array) -> pa.Table:
    return table.filter(pc.invert(pc.is_in(table["doc_id"], ids)))


def _rejections(
    documents: pa.Table, reasons: Mapping[str, tuple[str, str]], source: SourceSpec
) -> list[Rejection]:
    columns = ["doc_id", "object_name", "object_size", "object_token"]
    found = []
    for row in documents.select(columns).to_pylist():
        if row["doc_id"] in reasons:
            info = ObjectInfo(row["object_name"], row["object_size"], row["object_token"])
            found.append(rejection(source, info, "embed", *reasons[row["doc_id"]], doc_id=row["doc_id"]))
    return found

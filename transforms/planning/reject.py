"""Turn a fault of one document into a row of the rejected table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.model.ids import id_part
from transforms.model.shard import Rejection
from transforms.storage.registry import open_store

if TYPE_CHECKING:
    from transforms.model.objects import ObjectInfo
    from transforms.stages.job import SourceSpec

MAX_DETAIL = 500
"""Characters of a detail: some libraries put whole files into their messages."""


def rejection(
    source: SourceSpec,
    info: ObjectInfo,
    stage: str,
    reason: str,
    detail: str,
    doc_id: str | None = None,
) -> Rejection:
    """The row for a document that failed at ``stage`` under the source's recipe of today."""
    return Rejection(
        source=source.name,
        doc_id=id_part(info.name) if doc_id is None else doc_id,
        object_name=info.name,
        doc_uri=open_store(source.root).uri(info.name),
        stage=stage,
        reason=reason,
        detail=" ".join(detail.split())[:MAX_DETAIL],
        object_size=info.size,
        object_token=info.token,
        recipe=source.recipe.fingerprint,
    )

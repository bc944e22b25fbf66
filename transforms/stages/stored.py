"""What an object's former rows offer while its bytes are the same: its documents without reading it again."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from transforms.model.document import Block, BlockKind, Document, Page
from transforms.model.ids import id_part, sha256_hex
from transforms.model.objects import ObjectInfo
from transforms.planning.known import redo_of
from transforms.planning.redo import Redo
from transforms.stages.work import SourceDocument

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from transforms.stages.job import Recipe

EXTRACTOR = "stored"
_FACTS = ("object_name", "object_size", "object_token", "object_checksum", "object_sha256")
_CONTENT = (
    "doc_id", "media_type", "doc_title", "language", "metadata", "warnings", "text", "blocks", "pages",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Former:
    """An object of the last snapshot: what was read, and what would be made again of it today."""

    info: ObjectInfo
    sha256: str
    redo: Redo
    has_text: bool
    table: pa.Table
    places: Sequence[int]
    """Of its rows in a table of documents, most of which nobody asks for."""

    @property
    def rows(self) -> pa.Table:
        """Its rows in the documents table."""
        return self.table.take(pa.array(self.places))


def formers_of(documents: pa.Table, names: Iterable[str], recipe: Recipe) -> dict[str, Former]:
    """The objects of these names by name, as far as the documents have them."""
    rows = documents.filter(pc.is_in(documents["object_name"], pa.array(list(names), pa.string())))
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(rows["object_name"].to_pylist()):
        places[name].append(place)
    redo = redo_of(rows, recipe)
    facts = rows.select(_FACTS).to_pylist()
    has_text = rows["text"].is_valid().to_pylist()
    return {
        name: Former(
            info=_info(facts[own[0]]),
            sha256=facts[own[0]]["object_sha256"],
            redo=_redo(own, redo, facts),
            has_text=all(has_text[place] for place in own),
            table=rows,
            places=own,
        )
        for name, own in places.items()
    }


def documents_of(rows: pa.Table, info: ObjectInfo) -> Iterator[SourceDocument]:
    """The documents of one object's rows as they were extracted; ``info`` is the object they belong to now."""
    columns = rows.select([*_CONTENT, "object_name", "object_sha256"])
    for row in columns.to_pylist():
        # Behind the object's name stands the record, where it holds several documents.
        doc_id = id_part(info.name) + row["doc_id"][len(id_part(row["object_name"])) :]
        yield SourceDocument(info, row["object_sha256"], doc_id, document_of(row))


def cut_already(documents: Sequence[SourceDocument], former: pa.Table, recipe: Recipe) -> dict[str, int]:
    """Documents that are what they were, of today's cuts: their ids, and how many chunks each has."""
    ids = pa.array([doc.doc_id for doc in documents], pa.string())
    rows = former.filter(pc.is_in(former["doc_id"], ids))
    rows = rows.filter(
        pc.and_(pc.equal(rows["chunk_recipe"], recipe.chunk), pc.not_equal(rows["status"], "stale"))
    )
    by_id = {doc.doc_id: doc.document for doc in documents}
    found = {}
    for row in rows.select([*_CONTENT, "text_sha256", "chunk_count"]).to_pylist():
        now = by_id[row["doc_id"]]
        before = replace(document_of(row), text=now.text, extractor=now.extractor, record=now.record)
        if row["text_sha256"] == sha256_hex(now.text) and before == now:
            found[row["doc_id"]] = row["chunk_count"]
    return found


def document_of(row: dict[str, Any]) -> Document:
    """A row of the documents table as what the extractor delivered; its text is "" where it was not stored."""
    return Document(
        text=row["text"] or "",
        blocks=tuple(Block(**{**block, "kind": BlockKind(block["kind"])}) for block in row["blocks"]),
        media_type=row["media_type"],
        extractor=EXTRACTOR,
        pages=tuple(Page(**page) for page in row["pages"]),
        title=row["doc_title"],
        language=row["language"],
        metadata=json.loads(row["metadata"]),
        warnings=tuple(row["warnings"]),
    )


def _info(row: dict[str, Any]) -> ObjectInfo:
    return ObjectInfo(
        row["object_name"], row["object_size"], row["object_token"], row["object_checksum"] or ""
    )


def _redo(own: Sequence[int], redo: NDArray[np.int8], facts: Sequence[dict[str, Any]]) -> Redo:
    if len({facts[place]["object_sha256"] for place in own}) > 1:
        return Redo.READ
    return Redo(max(int(redo[place]) for place in own))

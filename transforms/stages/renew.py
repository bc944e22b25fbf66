"""Bring rows whose cuts are those of today to the state before embedding, for the model of today.

Nothing is cut again: keys and counts of tokens follow from the texts, which stay as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from transforms.chunkers.counters import EMBEDDER, size_counter
from transforms.model.ids import embed_keys
from transforms.stages.rows import TASK
from transforms.table.columns import replace_column
from transforms.table.schema import CHUNKS, DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from transforms.embedders.protocol import Embedder, TokenCounter
    from transforms.model.objects import ObjectInfo
    from transforms.stages.job import Job, Recipe, SourceSpec

NO_VECTOR = "no_vector"
"""Warning on a chunk whose text the model knows nothing of; its embedding is null."""
_OF_VECTORS = (
    "embedding", "embedding_int8", "embedding_bits", "sparse_indices", "sparse_values", "embed_model",
    "embed_dim",
)  # fmt: skip
_OF_EMBEDDING = (NO_VECTOR, "embedded_in_parts", "embedded_in_part")
"""Warnings that embedding adds."""


def renewed_chunks(
    chunks: pa.Table, doc_ids: Sequence[str], embedder: Embedder, source: SourceSpec, job: Job
) -> pa.Table:
    """The former chunks of documents, still without vectors."""
    table = chunks.filter(pc.is_in(chunks["doc_id"], pa.array(doc_ids, pa.string())))
    count = table.num_rows
    keys = embed_keys(embedder.name, embedder.dimension, TASK, table["embed_sha256"].to_pylist())
    table = replace_column(table, "embed_key", pa.array(list(keys), pa.string()))
    for name in _OF_VECTORS:
        table = replace_column(table, name, pa.nulls(count, CHUNKS.field(name).type))
    table = replace_column(table, "changed_in", pa.repeat(pa.scalar(job.snapshot, pa.int64()), count))
    counted_by = EMBEDDER if source.chunk.compat else source.chunk.size.counter
    sizer = size_counter(counted_by, embedder.counter)
    return _counted(_without_warnings(table), sizer, embedder.counter)


def renewed_documents(
    documents: pa.Table, infos: Mapping[str, ObjectInfo], recipe: Recipe, snapshot: int
) -> pa.Table:
    """The former rows of objects as those of today's recipe, with the version that is listed now."""
    table = documents.filter(pc.is_in(documents["object_name"], pa.array(list(infos), pa.string())))
    return of_today(with_versions(table, infos), recipe, snapshot)


def of_today(documents: pa.Table, recipe: Recipe, snapshot: int) -> pa.Table:
    """Documents whose vectors are made anew in a snapshot, dense and sparse ones."""
    values = {"embed_recipe": recipe.embed, "sparse_recipe": recipe.sparse, "changed_in": snapshot}
    return _constants(documents, values)


def with_versions(documents: pa.Table, infos: Mapping[str, ObjectInfo]) -> pa.Table:
    """Documents with the versions of the objects that ``infos`` names; the others stay as they are."""
    names = documents["object_name"].to_pylist()
    if not infos.keys() & set(names):
        return documents
    found = [infos.get(name) for name in names]
    listed = {
        "object_size": [info and info.size for info in found],
        "object_token": [info and info.token for info in found],
        "object_checksum": [info and (info.checksum or None) for info in found],
    }
    is_listed = pa.array([info is not None for info in found])
    for name, values in listed.items():
        column = pc.if_else(is_listed, pa.array(values, DOCUMENTS.field(name).type), documents[name])
        documents = replace_column(documents, name, column)
    return documents


def _constants(documents: pa.Table, values: Mapping[str, str | int | None]) -> pa.Table:
    for name, value in values.items():
        column = pa.repeat(pa.scalar(value, DOCUMENTS.field(name).type), documents.num_rows)
        documents = replace_column(documents, name, column)
    return documents


def _without_warnings(chunks: pa.Table) -> pa.Table:
    """What embedding has to say of a text is to be seen again."""
    warnings = chunks["warnings"].to_pylist()
    if not any(warnings):
        return chunks
    left = [[warning for warning in one if warning not in _OF_EMBEDDING] for one in warnings]
    return replace_column(chunks, "warnings", pa.array(left, CHUNKS.field("warnings").type))


def _counted(chunks: pa.Table, sizer: TokenCounter, model: TokenCounter) -> pa.Table:
    """The chunks with the tokens of today's counters: of the source's sizes, and of the model."""
    same_sizer = pc.all(pc.equal(chunks["counter"], sizer.name)).as_py() in (True, None)
    if not same_sizer:
        chunks = _with_counts(chunks, "tokens", "text", sizer)
        names = pa.repeat(pa.scalar(sizer.name, pa.string()), chunks.num_rows)
        chunks = replace_column(chunks, "counter", names)
    if not same_sizer or sizer.name != model.name:
        chunks = _with_counts(chunks, "embed_tokens", "embed_text", model)
    return chunks


def _with_counts(chunks: pa.Table, name: str, text: str, counter: TokenCounter) -> pa.Table:
    counts = counter.count(chunks[text].to_pylist())
    return replace_column(chunks, name, pa.array(counts, CHUNKS.field(name).type))

"""Which rows of the chunk table are loaded, and how they look then: those with a vector of the model that meet all
conditions, with the store's columns under its names.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from transforms.loaders.mapping import ID, SPARSE_COLUMNS, VECTOR
from transforms.model.errors import TableError
from transforms.model.ids import fingerprint
from transforms.sparse.columns import row_offsets

if TYPE_CHECKING:
    from transforms.loaders.protocol import Target
    from transforms.table.conditions import Condition

_MODEL = "embed_model"


@dataclass(frozen=True)
class Selection:
    """Rows of a table. Where sources are named, files of others are not read, and rows of others are not asked."""

    sources: tuple[str, ...]
    conditions: tuple[Condition, ...]
    model: str

    @property
    def key(self) -> str:
        """Changes with the choice."""
        return fingerprint(self.model, *map(repr, self.conditions), "", *sorted(self.sources))

    @cached_property
    def decides(self) -> tuple[str, ...]:
        """The columns that the choice depends on."""
        return tuple(dict.fromkeys((_MODEL, *(condition.column for condition in self.conditions))))

    def mask(self, batch: pa.RecordBatch) -> pa.Array:
        """Which rows of a batch that has ``decides`` are loaded: booleans without null."""
        has_vector = pc.fill_null(pc.equal(batch[_MODEL], self.model), fill_value=False)
        masks = [condition.mask(batch[condition.column]) for condition in self.conditions]
        return reduce(pc.and_, masks, has_vector)


def columns_read(target: Target, selection: Selection) -> list[str]:
    """The columns of the table that a load needs."""
    fields = (field.column for field in target.fields)
    return list(dict.fromkeys((ID, VECTOR, *fields, *_sparse_columns(target), *selection.decides)))


def split(batch: pa.RecordBatch, target: Target, selection: Selection) -> tuple[pa.RecordBatch, pa.Array]:
    """The rows that are loaded, in the target's schema, and the ids of those that are not.

    Raises:
        TableError: a vector has another length than the target's.
    """
    mask = selection.mask(batch)
    chosen = batch if pc.all(mask).as_py() else batch.filter(mask)
    left = batch[ID].filter(pc.invert(mask)) if chosen is not batch else pa.array([], pa.string())
    vectors = _vectors(chosen[VECTOR], target)
    fields = (chosen[field.column].cast(field.kind) for field in target.fields)
    kinds = (target.schema.field(name).type for name in target.sparse_columns)
    sparse = (
        _without_null(chosen[column], kind)
        for column, kind in zip(_sparse_columns(target), kinds, strict=True)
    )
    columns = [chosen[ID], vectors, *fields, *sparse]
    return pa.RecordBatch.from_arrays(columns, schema=target.schema), left


def _sparse_columns(target: Target) -> tuple[str, ...]:
    """Of the table, where the target has a sparse vector."""
    return () if target.sparse is None else SPARSE_COLUMNS


def _without_null(lists: pa.Array, kind: pa.DataType) -> pa.Array:
    """The lists, empty ones for those that are null."""
    if not lists.null_count:
        return lists.cast(kind)
    offsets = pa.array(row_offsets(lists), pa.int32())
    return pa.ListArray.from_arrays(offsets, lists.flatten()).cast(kind)


def _vectors(lists: pa.Array, target: Target) -> pa.Array:
    kind = target.schema.field(target.vector).type
    if not len(lists):
        return pa.array([], kind)
    lengths = pc.min_max(pc.list_value_length(lists)).as_py()
    if lists.null_count or lengths != {"min": target.dimension, "max": target.dimension}:
        raise TableError(
            f"A vector of model {target.model} has another length than {target.dimension}: "
            "parquetry run --full makes the table anew."
        )
    return pa.FixedSizeListArray.from_arrays(lists.flatten(), type=kind)

"""Which columns of the chunk table go where in a store."""

from __future__ import annotations

import difflib
from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa

from transforms.loaders.protocol import Field, sparse_columns
from transforms.model.errors import ConfigError
from transforms.sparse.columns import INDICES, VALUES
from transforms.table.schema import CHUNKS

if TYPE_CHECKING:
    from collections.abc import Mapping

ID = "chunk_id"
VECTOR = "embedding"
SPARSE = "sparse"
"""What the sparse vector is called in a store if nobody says otherwise."""
SPARSE_COLUMNS = (INDICES, VALUES)
"""The table's columns of it, which go along together, by another setting."""
DEFAULT = (
    "chunk_id", "embedding", "text", "source_name", "doc_id", "doc_uri", "doc_title", "doc_type", "chunk_index",
    "page_start", "section_title", "section_path", "metadata",
)  # fmt: skip
"""What a store is given if nobody says otherwise: what retrieval shows and filters by."""
_ALL = "*"


def check_columns(columns: Mapping[str, str], sparse: str | None = None) -> None:
    """Pass a mapping from columns of the table to names in the store.

    Args:
        columns: the mapping.
        sparse: name of the sparse vector there, if it goes along.

    Raises:
        ConfigError: a column is not in the table, or two go under one name.
    """
    if _ALL in columns and len(columns) > 1:
        raise ConfigError("columns: `*` stands for all columns and takes no others beside it.")
    for column in columns:
        if column in SPARSE_COLUMNS:
            raise ConfigError(
                f"columns: {column} is half of the sparse vector; `sparse` says how that goes along."
            )
        if column not in (_ALL, *CHUNKS.names):
            near = difflib.get_close_matches(column, CHUNKS.names, 1)
            meant = f"; did you mean {near[0]}?" if near else "."
            raise ConfigError(f"columns: the chunk table has no column {column}{meant}")
    names = Counter(_names(columns).values())
    if sparse is not None:
        # The vector under its name in some stores, two lists under theirs in others.
        names.update({sparse, *sparse_columns(sparse)})
    for name, times in names.items():
        if times > 1:
            raise ConfigError(f"columns: {times} columns would be called {name}.")
        if not name.strip() or "\0" in name:
            raise ConfigError(f"columns: {name!r} is no name of a column.")


def id_and_vector(columns: Mapping[str, str]) -> tuple[str, str]:
    """The names of ids and vectors in the store."""
    names = _names(columns)
    return names[ID], names[VECTOR]


def fields_of(columns: Mapping[str, str]) -> tuple[Field, ...]:
    """The other columns, in the order of the mapping; those of the sparse vector are none of them."""
    names = _names(columns)
    return tuple(
        Field(name, column, plain_type(CHUNKS.field(column).type))
        for column, name in names.items()
        if column not in (ID, VECTOR)
    )


def plain_type(kind: pa.DataType) -> pa.DataType:
    """A column's type as loaders are given it: that of the table, list elements without a name of their own."""
    if pa.types.is_list(kind):
        return pa.list_(pa.field("element", kind.value_type, nullable=False))
    return kind


def _names(columns: Mapping[str, str]) -> dict[str, str]:
    """The mapping with id and vector, in which ``*`` is all columns."""
    every = (name for name in CHUNKS.names if name not in SPARSE_COLUMNS)
    given = {name: name for name in every} if _ALL in columns else dict(columns)
    return {ID: ID, VECTOR: VECTOR} | given

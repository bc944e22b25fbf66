"""What the driver needs of a vector store: one loader a store, as thin as the store allows.

A loader moves rows and answers questions; it decides nothing. What is to be loaded, what must be refused and in which
order things happen is the driver's (:mod:`transforms.loaders.load`). A loader holds connections, belongs to one
thread, and raises what its vendor's library raises, as far as ``errors`` names it; the driver makes sentences of that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol

import pyarrow as pa

from transforms.model.ids import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Metric = Literal["cosine", "dot", "l2"]
IndexKind = Literal["default", "none", "hnsw"]
FullText = Literal["none", "always", "index"]


@dataclass(frozen=True, slots=True)
class Index:
    """Which index of vectors a store builds: ``default`` is what the store does by itself."""

    kind: IndexKind = "default"
    m: int = 16
    """Neighbours a node of HNSW."""
    ef_construction: int = 64
    """Candidates while HNSW is built."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column of the collection besides id and vectors."""

    name: str
    """In the store."""
    column: str
    """Of the chunk table."""
    kind: pa.DataType
    """string, int8, int32, int64, float, date32, binary, or a list of string, int8 or float; may be null."""


@dataclass(frozen=True)
class Target:
    """The collection that a load wants: its name and the shape of its rows."""

    collection: str
    id: str
    """Name of the column of ids in the store; ids are texts, UUIDs unless the table is foreign."""
    vector: str
    """Name of the column of vectors in the store."""
    fields: tuple[Field, ...]
    dimension: int
    metric: Metric
    model: str
    """Model and version, for what people read; vectors of no other model are loaded."""
    index: Index = Index()
    sparse: str | None = None
    """Name of the sparse vector in the store; None: the collection has none."""
    encoder: str = ""
    """What made the sparse vectors, with its fingerprint; empty without them."""
    full_text: str | None = None
    """Name of the field of texts that the store is to index by words; None: it is not to."""

    @cached_property
    def schema(self) -> pa.Schema:
        """Of every batch that a loader is given: id, vector, the fields in their order, then the sparse vector.

        The vector is ``fixed_size_list<float32>[dimension]`` without nulls, finite; the id has no null and is unique.
        The sparse vector is two lists without nulls, ids of terms as uint32 and their values as float32: ids ascend,
        values are finite and above zero, and both are empty for a text without terms.
        """
        return pa.schema(
            [
                pa.field(self.id, pa.string(), nullable=False),
                pa.field(self.vector, pa.list_(_element(pa.float32()), self.dimension), nullable=False),
                *(pa.field(field.name, field.kind) for field in self.fields),
                *(
                    pa.field(name, pa.list_(_element(kind)), nullable=False)
                    for name, kind in zip(self.sparse_columns, (pa.uint32(), pa.float32()), strict=False)
                ),
            ]
        )

    @property
    def sparse_columns(self) -> tuple[str, ...]:
        """The names of the two lists in a batch, ids and values; none without a sparse vector."""
        return () if self.sparse is None else sparse_columns(self.sparse)

    @property
    def shape(self) -> str:
        """Changes if the collection must be made anew; the name and the model are no part of it."""
        schema = self.schema.remove_metadata().to_string(truncate_metadata=False)
        columns = "\n".join(field.column for field in self.fields)
        # What a collection has not is no part, so that those of former versions keep their shape.
        words = () if self.full_text is None else (f"words of {self.full_text}",)
        return fingerprint(schema, columns, self.metric, repr(self.index), *words)


def sparse_columns(name: str) -> tuple[str, str]:
    """The names of the two lists of a sparse vector, where they are columns of their own."""
    return f"{name}_indices", f"{name}_values"


@dataclass(frozen=True, slots=True)
class Names:
    """Which names a collection may have."""

    pattern: str
    """A regular expression that the whole name meets."""
    rule: str
    """The same in words, as a sentence without its end."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a store takes. The driver refuses the rest before anything is written."""

    names: Names | None = None
    """None: any, but for control characters."""
    metrics: frozenset[Metric] = frozenset({"cosine", "dot", "l2"})
    indexes: frozenset[IndexKind] = frozenset({"default", "none", "hnsw"})
    dimensions: int | None = None
    """Most numbers of a vector."""
    indexed: int | None = None
    """Most numbers of a vector under HNSW."""
    id_bytes: int | None = None
    """Longest id in UTF-8."""
    uuids_only: bool = False
    """Ids must be UUIDs."""
    nul: bool = True
    """Whether a text may hold the character NUL."""
    text_bytes: int | None = None
    """Longest text of one field in UTF-8."""
    batch_rows: int = 4096
    """Rows that ``upsert`` is best given at once."""
    aliases: bool = False
    """Whether ``switch`` works: by aliases or views."""
    sparse: bool = False
    """Whether a row may have a sparse vector beside the dense one, in whatever form the store has for it."""
    sparse_entries: int | None = None
    """Most terms of a sparse vector."""
    full_text: FullText = "none"
    """Whether texts are found by words: ``always``, or by an ``index`` that is built where it is asked for."""
    atomic: bool = False
    """Whether ``replace`` shows readers all or nothing. If not, all rows are read and checked once before it."""


@dataclass(frozen=True, slots=True)
class Existing:
    """A collection that is there; what the store does not know is None."""

    dimension: int | None
    metric: Metric | None


class Loader(Protocol):
    """One store, connected. ``collection`` is never the name of an alias: see ``resolve``."""

    name: str
    """How people call the store."""
    limits: Limits

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What the vendor's library raises when the store refuses, or is not there."""

    def close(self) -> None:
        """Give back connections and files; nothing is called afterwards."""

    def resolve(self, name: str) -> str:
        """The collection that an alias or view ``name`` stands for; ``name`` itself where it is none."""

    def describe(self, collection: str) -> Existing | None:
        """What is there under that name; None: nothing."""

    def state(self, collection: str) -> str | None:
        """The text that ``set_state`` left there, in the store itself; None where there is none.

        It may outlive its collection; the driver asks ``describe`` too.
        """

    def set_state(self, collection: str, state: str) -> None:
        """Keep a text of less than 4 KiB of ASCII for that collection; durable when it returns.

        Called before the collection is made, too.
        """

    def drop(self, collection: str) -> None:
        """Remove a collection with its rows; its state may stay. One that is not there is passed over."""

    def replace(self, target: Target, batches: Iterator[pa.RecordBatch]) -> None:
        """Make the collection hold exactly these rows, by the store's fastest way; make it where there is none.

        What is there has ``target``'s shape, or the driver dropped it before, unless ``limits.atomic``: then
        whatever is there is replaced in one step, and stays as it is if ``batches`` raises. Otherwise
        :func:`transforms.loaders.in_place.replace_in_place` does it by ``upsert`` and ``delete``.
        Memory is bounded by some batches, unless the store itself lives in memory.
        """

    def upsert(self, target: Target, batch: pa.RecordBatch) -> None:
        """Write rows of ``target.schema``; those whose ids are there are replaced whole. The same again is no harm.

        The batch may be larger than ``limits.batch_rows``; requests are cut by the loader.
        """

    def delete(self, target: Target, ids: pa.Array) -> None:
        """Remove rows by their ids (strings); those that are not there are passed over."""

    def finish(self, target: Target) -> None:
        """Make everything durable, visible and searchable: flush, build or extend ``target.index``.

        Called after every load that wrote something, before the checks.
        """

    def count(self, collection: str) -> int:
        """Rows that readers see."""

    def held(self, target: Target, ids: Sequence[str]) -> set[str]:
        """Which of these ids (a few hundred) are there."""

    def switch(self, alias: str, collection: str) -> None:
        """Make ``alias`` stand for ``collection`` in one step. Only called if ``limits.aliases``.

        ``alias`` is an alias, or nothing is there under that name.
        """


def _element(kind: pa.DataType) -> pa.Field:
    return pa.field("element", kind, nullable=False)

"""ReadEmbeddableItems: a table's rows as the items that the vector stores' sinks of Beam write.

For whoever loads with a Beam job and the sinks of ``apache_beam.ml.rag.ingestion`` (BigQuery, AlloyDB, Cloud SQL,
Spanner, Milvus, Qdrant). Those write rows and delete none: what has gone from the table stays in the store, which
``parquetry load`` would delete.
"""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING

import apache_beam as beam
import pyarrow as pa
from apache_beam.ml.rag.types import Content, EmbeddableItem, Embedding

from transforms.loaders.mapping import DEFAULT, ID, VECTOR, check_columns
from transforms.loaders.selection import Selection
from transforms.loaders.stream import files_of, rows_of
from transforms.loaders.survey import vectors_of
from transforms.loaders.values import plain
from transforms.sparse.columns import INDICES, VALUES
from transforms.storage.registry import open_store
from transforms.table.conditions import parse_conditions
from transforms.table.reader import Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from transforms.model.shard import FileInfo

TEXT = "text"
PLACE = "chunk_index"
METADATA = tuple(name for name in DEFAULT if name not in {ID, VECTOR, TEXT, PLACE})
"""What an item carries beside id, text, place in the document and vector, if nobody says otherwise."""


class ReadEmbeddableItems(beam.PTransform):
    """A pipeline's beginning to an ``EmbeddableItem`` for each row with a vector, in no order.

    The id is the chunk's, so that writing the same row twice is writing it once; the content is its text, the index
    its place in its document. Beside the vector it has the sparse one; a text without terms has none.
    """

    def __init__(
        self,
        table: str,
        *,
        snapshot: int | None = None,
        metadata: Sequence[str] = METADATA,
        filters: Sequence[str] = (),
        sources: Sequence[str] = (),
        model: str | None = None,
        sparse: bool = True,
    ) -> None:
        """Which rows, and what of them.

        Args:
            table: root of the table, as in a configuration.
            snapshot: its number; the newest when the pipeline is built, if None.
            metadata: columns that become the item's metadata; what is null is left out. The sink for Qdrant writes
                metadata and no content: name ``text`` too for it.
            filters: conditions as ``parquetry load`` takes them.
            sources: names of sources; none: all.
            model: of the vectors, where the table holds several.
            sparse: whether items have sparse vectors, where the table has them; the sink for Qdrant writes them to a
                collection that must have a place for them.

        Raises:
            ConfigError: a column or condition is none of the table's.
        """
        super().__init__()
        check_columns({name: name for name in metadata})
        self._table = table
        self._number = snapshot
        self._metadata = tuple(metadata)
        self._conditions = parse_conditions(filters)
        self._sources = tuple(sources)
        self._model = model
        self._sparse = sparse

    def expand(self, begin: beam.pvalue.PBegin) -> beam.PCollection[EmbeddableItem]:
        store = open_store(self._table)
        found = Snapshot.newest(store) if self._number is None else Snapshot.open(store, self._number)
        model = vectors_of(found, self._sources, self._model).model
        selection = Selection(self._sources, self._conditions, model)
        sparse = self._sparse and found.manifest.sparse is not None
        read = _Read(self._table, found.manifest.snapshot, selection, self._metadata, sparse=sparse)
        files = files_of(found, self._sources)
        return begin | "Files" >> beam.Create(files) | beam.Reshuffle() | "Read" >> beam.ParDo(read)


class _Read(beam.DoFn):
    """Files to items, a row group at a time."""

    def __init__(
        self, table: str, number: int, selection: Selection, metadata: Sequence[str], *, sparse: bool
    ) -> None:
        self._table = table
        self._number = number
        self._selection = selection
        self._metadata = metadata
        self._vectors = (VECTOR, INDICES, VALUES) if sparse else (VECTOR,)
        self._snapshot: Snapshot | None = None

    def setup(self) -> None:
        self._snapshot = Snapshot.open(open_store(self._table), self._number)

    def process(self, file: FileInfo) -> Iterator[EmbeddableItem]:
        assert self._snapshot is not None  # noqa: S101 - setup() comes first
        columns = dict.fromkeys(
            (ID, TEXT, PLACE, *self._vectors, *self._metadata, *self._selection.decides)
        )
        for table in rows_of(self._snapshot, [file], list(columns)):
            for batch in table.to_batches():
                yield from _items(batch.filter(self._selection.mask(batch)), self._metadata)


def _items(batch: pa.RecordBatch, metadata: Sequence[str]) -> Iterator[EmbeddableItem]:
    values = (
        zip(*(plain(batch[name]) for name in metadata), strict=True) if metadata else [()] * batch.num_rows
    )
    keys = (batch[name].to_pylist() for name in (ID, TEXT, PLACE, VECTOR))
    for row, key, text, place, vector, sparse in zip(values, *keys, _sparse(batch), strict=True):
        facts = {name: value for name, value in zip(metadata, row, strict=True) if value is not None}
        yield EmbeddableItem(Content(text), key, place, facts, Embedding(vector, sparse))


def _sparse(batch: pa.RecordBatch) -> Iterator[tuple[list[int], list[float]] | None]:
    """The sparse vector of each row that has one; an empty one would be refused by some stores."""
    if INDICES not in batch.schema.names:
        return repeat(None, batch.num_rows)
    rows = zip(batch[INDICES].to_pylist(), batch[VALUES].to_pylist(), strict=True)
    return ((indices, values) if indices else None for indices, values in rows)

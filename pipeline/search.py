"""Find the chunks of a table that are nearest to a question, by reading all of its vectors.

Exact, without an index: for looking at a table, for tests and for small corpora. The question is
embedded by the model that the table was made with, as its manifest names it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from pydantic import ValidationError

from transforms.embedders.registry import make_embedder
from transforms.embedders.settings import settings_from_json
from transforms.model.document import canonical_text
from transforms.model.errors import ConfigError, TableError
from transforms.storage.registry import open_store
from transforms.table.reader import Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from transforms.embedders.protocol import Embedder

_COLUMNS = (
    "chunk_id", "source_name", "doc_id", "doc_uri", "page_start", "section_path", "text", "embedding",
    "embed_model",
)  # fmt: skip
_ROWS_AT_ONCE = 4096


@dataclass(frozen=True, slots=True)
class Hit:
    """One chunk that was found; ``score`` is the cosine of its vector and the question's."""

    score: float
    source_name: str
    doc_id: str
    doc_uri: str
    page: int | None
    """Page of its first character, from 1, where the document has pages."""
    section_path: tuple[str, ...]
    text: str
    chunk_id: str


def search(table_root: str, question: str, top: int = 5, sources: Sequence[str] | None = None) -> list[Hit]:
    """The ``top`` nearest chunks of the newest snapshot, the nearest first; equal ones by chunk id.

    Chunks without a vector are passed over. Memory is bounded by a batch of rows, not by the table.

    Raises:
        TableError: there is no snapshot, or its embedder is unknown here.
        ConfigError: a source is not in the table, or the model knows no word of the question.
    """
    snapshot = open_newest(table_root)
    _check_sources(snapshot, sources)
    embedder = _embedder_of(snapshot, table_root)
    vector = _question_vector(embedder, question)
    return nearest(_batches(snapshot, sources), vector, embedder.name, top)


def open_newest(table_root: str) -> Snapshot:
    """The newest snapshot.

    Raises:
        TableError: there is none, or it is damaged.
    """
    return Snapshot.newest(open_store(table_root))


def nearest(
    batches: Iterable[pa.RecordBatch], vector: NDArray[np.float32], model: str, top: int
) -> list[Hit]:
    """The rows of ``batches`` whose vectors, made by ``model``, are nearest to ``vector``.

    Rows of another model are passed over: their vectors say nothing beside this one.
    """
    question = vector.astype(np.float64)
    question /= np.sqrt(np.add.reduce(question * question))
    best: list[Hit] = []
    for batch in batches:
        places, vectors = _vectors(batch, model, len(question))
        best = sorted([*best, *_best(batch, places, _cosines(vectors, question), top)], key=_rank)[:top]
    return best


def _check_sources(snapshot: Snapshot, sources: Sequence[str] | None) -> None:
    there = list(snapshot.manifest.sources)
    unknown = [name for name in sources or () if name not in there]
    if unknown:
        raise ConfigError(
            f"The table has no source called {', '.join(unknown)}; it has {', '.join(there) or 'none'}."
        )


def _embedder_of(snapshot: Snapshot, table_root: str) -> Embedder:
    text = snapshot.manifest.recipe.get("embedder", "")
    try:
        settings = settings_from_json(text)
    except ValidationError as error:
        raise TableError(
            f"The table at {table_root} was made with an embedder that this program does not know: "
            f"{text or 'its manifest names none'}"
        ) from error
    return make_embedder(settings)


def _question_vector(embedder: Embedder, question: str) -> NDArray[np.float32]:
    vector: NDArray[np.float32] = embedder.embed([canonical_text(question).strip()], "query")[0]
    if not np.isfinite(vector).all() or not vector.any():
        raise ConfigError(f"The table's model {embedder.name} knows no word of the question {question!r}.")
    return vector


def _batches(snapshot: Snapshot, sources: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
    for source in dict.fromkeys(sources) if sources else (None,):
        yield from snapshot.chunks(_COLUMNS, source=source)


def _vectors(
    batch: pa.RecordBatch, model: str, dimension: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The places of the rows that ``model`` made a vector for, and those vectors."""
    import pyarrow.compute as pc

    has = pc.and_kleene(pc.equal(batch["embed_model"], model), pc.is_valid(batch["embedding"]))
    places = np.flatnonzero(has.fill_null(False).to_numpy(zero_copy_only=False))  # noqa: FBT003
    values = batch["embedding"].take(places).flatten().to_numpy()
    if len(values) != len(places) * dimension:
        raise TableError(
            f"The table has vectors of another length than the {dimension} of its model {model}."
        )
    return places, values.reshape(len(places), dimension)


def _cosines(vectors: NDArray[np.float32], question: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosines in float64, row by row in one fixed order: equal vectors have equal cosines."""
    cosines = np.empty(len(vectors))
    for first in range(0, len(vectors), _ROWS_AT_ONCE):
        rows = vectors[first : first + _ROWS_AT_ONCE].astype(np.float64)
        lengths = np.sqrt(np.add.reduce(rows * rows, axis=1))
        dots = np.add.reduce(rows * question, axis=1)
        cosines[first : first + _ROWS_AT_ONCE] = dots / np.where(lengths == 0, np.nan, lengths)
    return cosines


def _best(
    batch: pa.RecordBatch, places: NDArray[np.int64], cosines: NDArray[np.float64], top: int
) -> list[Hit]:
    finite = np.isfinite(cosines)
    places, cosines = places[finite], cosines[finite]
    if len(cosines) > top:
        least = np.partition(cosines, -top)[-top]
        places, cosines = places[cosines >= least], cosines[cosines >= least]
        ids = batch["chunk_id"].take(places).to_pylist()
        order = sorted(range(len(ids)), key=lambda at: (-cosines[at], ids[at]))[:top]
        places, cosines = places[order], cosines[order]
    rows = batch.select([name for name in _COLUMNS if not name.startswith("embed")]).take(places)
    return [_hit(row, float(score)) for row, score in zip(rows.to_pylist(), cosines, strict=True)]


def _hit(row: dict[str, object], score: float) -> Hit:
    page, path = row.pop("page_start"), row.pop("section_path")
    return Hit(score=score, page=page, section_path=tuple(path), **row)  # type: ignore[arg-type]


def _rank(hit: Hit) -> tuple[float, str]:
    return -hit.score, hit.chunk_id

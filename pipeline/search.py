"""Find the chunks of a table that answer a question best, by reading all of its rows.

Exact, without an index: for looking at a table, for tests and for small corpora. The question is embedded by the model
and analysed by the encoder that the table was made with, as its manifest names them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from pydantic import ValidationError

from pipeline.terms import encoder_of
from transforms.embedders.registry import make_embedder
from transforms.embedders.settings import settings_from_json
from transforms.model.errors import ConfigError, ParquetryError, TableError
from transforms.model.fusion import DEFAULT, Fusion
from transforms.retrieval.candidates import Candidates
from transforms.retrieval.fusion import CANDIDATES
from transforms.retrieval.question import NO_TERMS, Terms, asked, terms_of
from transforms.retrieval.vectors import vectors_of
from transforms.sparse.columns import INDICES, VALUES
from transforms.storage.registry import open_store
from transforms.table.conditions import parse_conditions
from transforms.table.reader import Snapshot
from transforms.table.terms import read_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from transforms.embedders.protocol import Embedder
    from transforms.model.fusion import Method
    from transforms.retrieval.candidates import Ranked
    from transforms.retrieval.fusion import By
    from transforms.table.conditions import Condition

_SHOWN = ("chunk_id", "source_name", "doc_id", "doc_uri", "page_start", "section_path", "text")
_DENSE = ("embedding", "embed_model")
_SPARSE = (INDICES, VALUES)
_ROWS_AT_ONCE = 4096
_QUOTED = 100
"""Characters of a question that a message repeats."""


@dataclass(frozen=True, slots=True)
class Match:
    """A term of the question that a chunk has."""

    term: str
    weight: float
    """How much the term counts in the question: how rare it is, times how often it is asked for."""
    score: float
    """What it adds to the chunk's sparse score."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One chunk that was found."""

    score: float
    """What it is ranked by: the cosine, the sum over terms, or what fusion makes of both."""
    dense: float | None
    """Cosine of its vector and the question's; None where there is none, or none was asked for."""
    dense_rank: int | None
    """Its place by that, from 1; None where it is not among the first."""
    sparse: float | None
    """Sum over the question's terms; None where none were asked for."""
    sparse_rank: int | None
    source_name: str
    doc_id: str
    doc_uri: str
    page: int | None
    """Page of its first character, from 1, where the document has pages."""
    section_path: tuple[str, ...]
    text: str
    chunk_id: str
    matches: tuple[Match, ...] = ()
    """The terms that it has, what adds most first."""
    fusion: Fusion | None = None
    """How its score was made of both; None where it is one of them."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question as this table's rows are scored by it."""

    by: By
    vector: NDArray[np.float32] | None
    """None: by terms alone."""
    model: str
    terms: Terms
    fusion: Fusion = DEFAULT


def search(
    table_root: str,
    question: str,
    top: int = 5,
    sources: Sequence[str] | None = None,
    *,
    by: By | None = None,
    filters: Sequence[str] = (),
    fusion: Method | None = None,
    weight: float | None = None,
) -> list[Hit]:
    """The ``top`` best chunks of the newest snapshot, the best first; equal ones by chunk id.

    Memory is bounded by a batch of rows and the candidates, not by the table.

    Args:
        table_root: root of the table.
        question: in any words.
        top: chunks at most.
        sources: only chunks of these.
        by: ``dense``, ``sparse`` or ``hybrid``; None: hybrid where the table has both, else dense.
        filters: conditions on columns that chunks must meet, as ``parquetry load`` takes them.
        fusion: how hybrid makes one score of two; None: as the table's job says.
        weight: how much words count in it, from 0 to 1; None likewise.

    Raises:
        TableError: there is no snapshot, or its embedder or encoder is unknown here.
        ConfigError: a source or condition is none of the table's, a number is out of bounds, the question is empty, or
            it has nothing that the model knows, or nothing that it could be searched by.
    """
    if not asked(question):
        raise ConfigError("The question is empty: say what to look for.")
    _check_numbers(top, weight)
    conditions = parse_conditions(filters)
    snapshot = open_newest(table_root)
    _check_sources(snapshot, sources)
    wanted = snapshot.manifest.search.changed(fusion, weight)
    query = replace(_query(snapshot, table_root, question, by), fusion=wanted)
    return best(_batches(snapshot, query, sources, conditions), query, top, conditions)


def open_newest(table_root: str) -> Snapshot:
    """The newest snapshot.

    Raises:
        TableError: there is none, or it is damaged.
    """
    return Snapshot.newest(open_store(table_root))


def best(
    batches: Iterable[pa.RecordBatch], query: Query, top: int, conditions: Sequence[Condition] = ()
) -> list[Hit]:
    """The rows of ``batches`` that answer best, of those that meet the conditions.

    Vectors of another model are passed over: they say nothing beside this one.
    """
    candidates: Candidates[Hit] = Candidates(max(top, CANDIDATES) if query.by == "hybrid" else top)
    for batch in batches:
        candidates.add(
            _cosines_of(batch, query),
            _sums_of(batch, query),
            batch["chunk_id"],
            partial(_hit, batch, query),
            _meets(batch, conditions),
        )
    return [_scored(one, query) for one in candidates.ranking(query.by, query.fusion)[:top]]


def _check_numbers(top: int, weight: float | None) -> None:
    if top < 1:
        raise ConfigError(f"{top} chunks were asked for: at least one must be.")
    if weight is not None and not 0 <= weight <= 1:
        raise ConfigError(f"The weight of words is from 0 to 1, and {weight} is not.")


def _check_sources(snapshot: Snapshot, sources: Sequence[str] | None) -> None:
    there = list(snapshot.manifest.sources)
    unknown = [name for name in sources or () if name not in there]
    if unknown:
        raise ConfigError(
            f"The table has no source called {', '.join(unknown)}; it has {', '.join(there) or 'none'}."
        )


def _query(snapshot: Snapshot, root: str, question: str, by: By | None) -> Query:
    has_sparse = snapshot.manifest.sparse is not None
    if by in ("sparse", "hybrid") and not has_sparse:
        raise TableError(
            f"The table at {root} has no sparse vectors to search by. They are made by the next run with "
            "`sparse: {kind: bm25}` in its configuration, without embedding anything again."
        )
    by = by or ("hybrid" if has_sparse else "dense")
    terms = NO_TERMS
    if by != "dense":
        terms = _terms(snapshot, root, question)
    if by == "sparse":
        if not len(terms.ids):
            raise ConfigError(
                f"The question {_quoted(question)} has no word or number that a table is searched by."
            )
        return Query(by, None, "", terms)
    try:
        embedder = _embedder_of(snapshot, root)
        vector = _question_vector(embedder, question)
    except ParquetryError as error:
        if not has_sparse:
            raise
        said = str(error).rstrip(".")
        raise ConfigError(f"{said}. `--sparse` searches by words, which needs no model.") from error
    if vector is None and not len(terms.ids):
        raise ConfigError(
            f"The table's model {embedder.name} knows no word of the question {_quoted(question)}."
        )
    return Query(by, vector, embedder.name, terms)


def _terms(snapshot: Snapshot, root: str, question: str) -> Terms:
    try:
        return terms_of(question, encoder_of(snapshot, root), read_terms(snapshot))
    except TableError as error:
        raise TableError(f"{error} `--dense` searches without them.") from error


def _quoted(question: str) -> str:
    return repr(question if len(question) <= _QUOTED else f"{question[:_QUOTED]}…")


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


def _question_vector(embedder: Embedder, question: str) -> NDArray[np.float32] | None:
    """None where the model knows no word of the question."""
    vector: NDArray[np.float32] = embedder.embed([asked(question)], "query")[0]
    return vector if np.isfinite(vector).all() and vector.any() else None


def _batches(
    snapshot: Snapshot, query: Query, sources: Sequence[str] | None, conditions: Sequence[Condition]
) -> Iterator[pa.RecordBatch]:
    """The rows of the sources, with the columns that are asked for."""
    scored = (*(_DENSE if query.vector is not None else ()), *(_SPARSE if query.by != "dense" else ()))
    columns = dict.fromkeys((*_SHOWN, *scored, *(condition.column for condition in conditions)))
    for source in dict.fromkeys(sources) if sources else (None,):
        yield from snapshot.chunks(list(columns), source=source)


def _meets(batch: pa.RecordBatch, conditions: Sequence[Condition]) -> NDArray[np.bool_] | None:
    """Which rows meet all conditions; None where there are none."""
    masks = [condition.mask(batch[condition.column]) for condition in conditions]
    if not masks:
        return None
    all_met: NDArray[np.bool_] = np.logical_and.reduce(
        [mask.to_numpy(zero_copy_only=False) for mask in masks]
    )
    return all_met


def _cosines_of(batch: pa.RecordBatch, query: Query) -> NDArray[np.float64]:
    """NaN where a row has no vector of the model."""
    dense = np.full(batch.num_rows, np.nan)
    if query.vector is not None:
        question = query.vector.astype(np.float64)
        question /= np.sqrt(np.add.reduce(question * question))
        places, vectors = vectors_of(batch, query.model, len(question))
        dense[places] = _cosines(vectors, question)
    return dense


def _sums_of(batch: pa.RecordBatch, query: Query) -> NDArray[np.float64]:
    if query.by == "dense" or not len(query.terms.ids):
        return np.zeros(batch.num_rows)
    return query.terms.scores(batch[INDICES], batch[VALUES])


def _cosines(vectors: NDArray[np.float32], question: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosines in float64, row by row in one fixed order: equal vectors have equal cosines. NaN for zeros."""
    cosines = np.empty(len(vectors))
    for first in range(0, len(vectors), _ROWS_AT_ONCE):
        rows = vectors[first : first + _ROWS_AT_ONCE].astype(np.float64)
        lengths = np.sqrt(np.add.reduce(rows * rows, axis=1))
        dots = np.add.reduce(rows * question, axis=1)
        cosines[first : first + _ROWS_AT_ONCE] = dots / np.where(lengths == 0, np.nan, lengths)
    return cosines


def _hit(batch: pa.RecordBatch, query: Query, at: int) -> Hit:
    """The row at a place, still without scores."""
    row = {name: batch[name][at].as_py() for name in _SHOWN}
    page, path = row.pop("page_start"), row.pop("section_path")
    matches = _matches(batch, at, query.terms) if query.by != "dense" else ()
    return Hit(
        0.0, None, None, None, None, page=page, section_path=tuple(path), matches=matches, **row
    )  # fmt: skip


def _matches(batch: pa.RecordBatch, at: int, terms: Terms) -> tuple[Match, ...]:
    """The question's terms in one row."""
    values = dict(zip(batch[INDICES][at].as_py() or (), batch[VALUES][at].as_py() or (), strict=True))
    asked_for = zip(terms.ids.tolist(), terms.words, terms.weights.tolist(), strict=True)
    found = [Match(word, weight, weight * values[one]) for one, word, weight in asked_for if one in values]
    return tuple(sorted(found, key=lambda match: (-match.score, match.term)))


def _scored(ranked: Ranked[Hit], query: Query) -> Hit:
    return replace(
        ranked.row,
        score=ranked.score,
        dense=ranked.dense,
        dense_rank=ranked.dense_rank,
        sparse=None if query.by == "dense" else ranked.sparse,
        sparse_rank=ranked.sparse_rank,
        fusion=query.fusion if query.by == "hybrid" else None,
    )

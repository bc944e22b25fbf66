"""Ask a snapshot questions with known answers before it is published, and refuse one that retrieves worse.

They are asked as ``parquetry search`` asks: by vectors and terms together where the table has both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from transforms.embedders.batching import embed_distinct
from transforms.embedders.protocol import StoppedError
from transforms.embedders.vectors import at_length_one
from transforms.evaluation.measures import ndcg, recall, reciprocal_rank
from transforms.model.errors import BudgetReachedError, GuardError
from transforms.model.fusion import DEFAULT
from transforms.retrieval.candidates import Candidates
from transforms.retrieval.question import NO_TERMS, asked, terms_of
from transforms.retrieval.vectors import vectors_of
from transforms.sparse.columns import INDICES, VALUES
from transforms.table.terms import read_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from transforms.embedders.protocol import Embedder
    from transforms.evaluation.questions import Question
    from transforms.model.fusion import Fusion
    from transforms.retrieval.fusion import By
    from transforms.sparse.protocol import SparseEncoder
    from transforms.table.reader import Snapshot

_NAMES = ("source_name", "doc_id", "doc_uri")
_Name: TypeAlias = tuple[str, str]
"""A document as SOURCE/ID and as URI: a question names it by either."""


@dataclass(frozen=True, slots=True)
class Gate:
    """The settings with the questions themselves: workers need no file of the machine that began the run."""

    questions: tuple[Question, ...]
    least: tuple[tuple[str, float], ...]
    """Measures, and what each must reach."""


def measured(
    snapshot: Snapshot,
    embedder: Embedder,
    encoder: SparseEncoder | None,
    questions: Sequence[Question],
    names: Sequence[str],
    *,
    fusion: Fusion = DEFAULT,
) -> dict[str, float]:
    """The mean of each measure over the questions, by documents.

    Args:
        snapshot: its files are in place; all of its vectors are read, once.
        embedder: the table's.
        encoder: that of its sparse vectors, if it has them.
        questions: at least one.
        names: measures, as ``recall@5``.
        fusion: how one score is made of both.

    Raises:
        GuardError: the budget does not reach for the questions.
        ParquetryError: the embedder cannot be used.
    """
    texts = [question.question for question in questions]
    rankings = _rankings(snapshot, embedder, encoder, texts, fusion)
    values = [
        _values(names, question, ranked) for question, ranked in zip(questions, rankings, strict=True)
    ]
    return {name: float(np.mean([one[name] for one in values])) for name in names}


def _values(names: Sequence[str], question: Question, ranked: Sequence[_Name]) -> dict[str, float]:
    rank = next((n for n, document in enumerate(ranked) if _answers(question, document)), None)
    relevant = [n == rank for n in range(len(ranked))]
    values: dict[str, float] = {}
    for name in names:
        measure, _, k = name.partition("@")
        if measure == "mrr":
            values[name] = reciprocal_rank(relevant)
        else:
            values[name] = (recall if measure == "recall" else ndcg)(relevant, 1, int(k))
    return values


def _answers(question: Question, document: _Name) -> bool:
    return any(map(question.is_answered_by, document))


def _rankings(
    snapshot: Snapshot,
    embedder: Embedder,
    encoder: SparseEncoder | None,
    texts: Sequence[str],
    fusion: Fusion,
) -> list[list[_Name]]:
    """For each question the documents, the best first; those behind the best chunks count as not found."""
    vectors = _asked(embedder, texts)
    statistics = None if encoder is None else read_terms(snapshot)
    terms = [NO_TERMS if encoder is None else terms_of(text, encoder, statistics) for text in texts]
    candidates: list[Candidates[_Name]] = [Candidates() for _ in texts]
    sparse = () if encoder is None else (INDICES, VALUES)
    for batch in snapshot.chunks([*_NAMES, "chunk_id", "embedding", "embed_model", *sparse]):
        dense = _cosines(batch, embedder, vectors)
        for place, found in enumerate(candidates):
            sums = terms[place].scores(batch[INDICES], batch[VALUES]) if sparse else np.zeros(len(batch))
            found.add(dense[place], sums, batch["chunk_id"], partial(_name, batch))
    by: By = "dense" if encoder is None else "hybrid"
    return [list(dict.fromkeys(ranked.row for ranked in found.ranking(by, fusion))) for found in candidates]


def _name(batch: pa.RecordBatch, place: int) -> _Name:
    source, doc_id, uri = (batch[name][place].as_py() for name in _NAMES)
    return f"{source}/{doc_id}", uri


def _asked(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    try:
        return at_length_one(embed_distinct(embedder, [asked(text) for text in texts], task="query"))
    except StoppedError as stopped:
        if not isinstance(stopped.cause, BudgetReachedError):
            raise stopped.cause from stopped
        raise GuardError(
            "Nothing was published: the budget (limits.max_tokens, limits.max_cost) does not reach for the "
            "questions of `gate`. All shards are done and kept; the same command goes on from there, with a "
            "budget of its own."
        ) from stopped


def _cosines(
    batch: pa.RecordBatch, embedder: Embedder, questions: NDArray[np.float32]
) -> NDArray[np.float64]:
    """A row a question and a column a chunk; NaN where a chunk has no vector of the model."""
    places, vectors = vectors_of(batch, embedder.name, embedder.dimension)
    cosines = np.full((len(questions), len(batch)), np.nan)
    cosines[:, places] = questions @ at_length_one(vectors).T
    return cosines


def without_documents(snapshot: Snapshot, questions: Sequence[Question]) -> list[str]:
    """Ids of questions of which no document is in the snapshot: gone, or never there under that name."""
    left = {question.id: question for question in questions}
    for batch in snapshot.documents(_NAMES):
        names = zip(*(batch[column].to_pylist() for column in batch.schema.names), strict=True)
        for source, doc_id, uri in names:
            for key in [key for key, one in left.items() if _answers(one, (f"{source}/{doc_id}", uri))]:
                del left[key]
        if not left:
            break
    return list(left)


def faults_of(least: Iterable[tuple[str, float]], found: Mapping[str, float]) -> Iterator[str]:
    """Each measure that is missed, in words."""
    for name, value in least:
        if found[name] < value:
            yield f"{name} is {found[name]:.3f}, under gate.{name} = {value}"

"""Ask a snapshot questions with known answers before it is published, and refuse one that retrieves worse."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from transforms.embedders.batching import embed_distinct
from transforms.embedders.protocol import StoppedError
from transforms.embedders.vectors import at_length_one
from transforms.evaluation.measures import ndcg, recall, reciprocal_rank
from transforms.model.document import canonical_text
from transforms.model.errors import BudgetReachedError, GuardError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from transforms.embedders.protocol import Embedder
    from transforms.evaluation.questions import Question
    from transforms.table.reader import Snapshot

_CHUNKS = 200
"""Chunks that are ranked for a question: documents behind them count as not found."""


_Name: TypeAlias = tuple[str, str]
"""A document as SOURCE/ID and as URI: a question names it by either."""


@dataclass(frozen=True, slots=True)
class Gate:
    """The settings with the questions themselves: workers need no file of the machine that began the run."""

    questions: tuple[Question, ...]
    least: tuple[tuple[str, float], ...]
    """Measures, and what each must reach."""


def measured(
    snapshot: Snapshot, embedder: Embedder, questions: Sequence[Question], names: Sequence[str]
) -> dict[str, float]:
    """The mean of each measure over the questions, by documents.

    Args:
        snapshot: its files are in place; all of its vectors are read, once.
        embedder: the table's.
        questions: at least one.
        names: measures, as ``recall@5``.

    Raises:
        GuardError: the budget does not reach for the questions.
        ParquetryError: the embedder cannot be used.
    """
    rankings = _rankings(snapshot, embedder, [question.question for question in questions])
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


def _rankings(snapshot: Snapshot, embedder: Embedder, texts: Sequence[str]) -> list[list[_Name]]:
    """For each question the documents, the nearest first."""
    asked = _asked(embedder, texts)
    best: list[list[tuple[float, _Name]]] = [[] for _ in texts]
    for batch in snapshot.chunks(["source_name", "doc_id", "doc_uri", "embedding", "embed_model"]):
        names, vectors = _with_vectors(batch, embedder)
        scores = vectors @ asked.T
        for place, found in enumerate(best):
            _keep_best(found, scores[:, place], names)
    return [list(dict.fromkeys(_in_order(found))) for found in best]


def _asked(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    try:
        return at_length_one(
            embed_distinct(embedder, [canonical_text(text).strip() for text in texts], task="query")
        )
    except StoppedError as stopped:
        if not isinstance(stopped.cause, BudgetReachedError):
            raise stopped.cause from stopped
        raise GuardError(
            "Nothing was published: the budget (limits.max_tokens, limits.max_cost) does not reach for the "
            "questions of `gate`. All shards are done and kept; the same command goes on from there, with a "
            "budget of its own."
        ) from stopped


def _with_vectors(batch: pa.RecordBatch, embedder: Embedder) -> tuple[list[_Name], NDArray[np.float32]]:
    import pyarrow.compute as pc

    rows = batch.filter(
        pc.and_(pc.equal(batch["embed_model"], embedder.name), pc.is_valid(batch["embedding"]))
    )
    names = pc.binary_join_element_wise(rows["source_name"], rows["doc_id"], "/").to_pylist()
    names = list(zip(names, rows["doc_uri"].to_pylist(), strict=True))
    return names, at_length_one(
        rows["embedding"].flatten().to_numpy().reshape(len(rows), embedder.dimension)
    )


def _keep_best(
    found: list[tuple[float, _Name]], scores: NDArray[np.float32], names: Sequence[_Name]
) -> None:
    least = found[0][0] if len(found) == _CHUNKS else -2.0
    for place in np.flatnonzero(scores > least).tolist():
        item = (float(scores[place]), names[place])
        if len(found) < _CHUNKS:
            heapq.heappush(found, item)
        else:
            heapq.heappushpop(found, item)


def _in_order(found: Sequence[tuple[float, _Name]]) -> Iterator[_Name]:
    return (name for _, name in sorted(found, key=lambda item: (-item[0], item[1])))


def without_documents(snapshot: Snapshot, questions: Sequence[Question]) -> list[str]:
    """Ids of questions of which no document is in the snapshot: gone, or never there under that name."""
    left = {question.id: question for question in questions}
    for batch in snapshot.documents(["source_name", "doc_id", "doc_uri"]):
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

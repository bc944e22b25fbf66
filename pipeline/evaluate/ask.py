"""Hold what was found for one question against what answers it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from transforms.evaluation.measures import bootstrap, ndcg, overlap, recall, reciprocal_rank

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pipeline.evaluate.corpus import Corpus
    from pipeline.evaluate.retrieve import Piece
    from pipeline.evaluate.settings import EvaluationConfig
    from transforms.evaluation.measures import Interval
    from transforms.evaluation.questions import Answers, Question

_WORD = re.compile(r"\w+|[^\w\s]")
"""What is retrieved and counted: the same words for every variant, whatever its model calls a token."""
_TOP = 3
"""Documents that a report names for a question."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question under one variant."""

    question: Question
    rank: int | None
    """Of the first document that answers it, from 1; None where none was found."""
    found: tuple[str, ...]
    """The documents that came first."""
    measures: Mapping[str, float]


class Words:
    """The words of each document by position, found when they are first asked for."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._found: dict[int, list[tuple[int, int]]] = {}

    def name(self, document: int) -> str:
        """SOURCE/ID of the document at a place of the corpus."""
        return self._corpus.entries[document].text.name

    def within(self, document: int, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The words that lie in a span, each as its document and its position there."""
        if document not in self._found:
            text = self._corpus.entries[document].document.text
            self._found[document] = [match.span() for match in _WORD.finditer(text)]
        return ((document, a) for a, b in self._found[document] if a >= start and b <= end)


def ask(
    question: Question, answers: Answers, ranked: Sequence[Piece], words: Words, config: EvaluationConfig
) -> Asked:
    """The measures of one question.

    Args:
        question: which.
        answers: where it is answered.
        ranked: the pieces that were found, the best first.
        words: of the corpus.
        config: which measures.
    """
    documents = list(dict.fromkeys(piece.document for piece in ranked))
    # One of the documents is enough, so the first that is found is all there is to find.
    rank = next((n for n, document in enumerate(documents, 1) if document in answers.documents), None)
    relevant = [n == rank for n in range(1, len(documents) + 1)]
    measures = {f"recall@{k}": recall(relevant, 1, k) for k in config.at}
    measures["mrr"] = reciprocal_rank(relevant)
    measures |= {f"ndcg@{k}": ndcg(relevant, 1, k) for k in config.at}
    if answers.spans:
        measures |= _over_spans(ranked, answers, words, config.retrieved_words)
    return Asked(question, rank, tuple(words.name(document) for document in documents[:_TOP]), measures)


def _over_spans(ranked: Sequence[Piece], answers: Answers, words: Words, limit: int) -> dict[str, float]:
    """Against the document that is answered best from: each of them answers alone."""
    in_order = (word for piece in ranked for word in words.within(piece.document, piece.start, piece.end))
    retrieved = first_distinct(in_order, limit)
    by_document: dict[int, set[tuple[int, int]]] = {}
    for document, start, end in answers.spans:
        by_document.setdefault(document, set()).update(words.within(document, start, end))
    found = [overlap(retrieved, wanted) for wanted in by_document.values() if wanted]
    if not found:
        return {}
    best = max(found)
    return {"span recall": best.recall, "span precision": best.precision, "span iou": best.iou}


def summary(measures: Iterable[Mapping[str, float]], samples: int) -> dict[str, Interval]:
    """Of each measure the mean over the questions that have it, in the order in which they first come."""
    values: dict[str, list[float]] = {}
    for one in measures:
        for name, value in one.items():
            values.setdefault(name, []).append(value)
    return {name: bootstrap(each, samples) for name, each in values.items()}


def first_distinct(words: Iterable[tuple[int, int]], limit: int) -> set[tuple[int, int]]:
    """The first ``limit`` words that differ: what overlapping chunks share is retrieved once."""
    found: set[tuple[int, int]] = set()
    for word in words:
        if len(found) == limit:
            break
        found.add(word)
    return found

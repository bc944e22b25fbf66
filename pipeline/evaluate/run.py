"""Ask every variant all questions, by vectors, by terms and by both, and sum up how well it answers."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipeline.evaluate.ask import Asked, Words, ask, summary
from pipeline.evaluate.corpus import Corpus, read_corpus
from pipeline.evaluate.halves import Halves, chosen_on_one_half
from pipeline.evaluate.retrieve import Index, Scores, Vectors, build_index, embed_questions
from transforms.evaluation.questions import Answers, Question, find_answers, questions_of
from transforms.model.errors import ParquetryError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipeline.evaluate.settings import EvaluationConfig, Variant
    from transforms.evaluation.measures import Interval
    from transforms.model.fusion import Fusion
    from transforms.retrieval.fusion import By

_ALL: tuple[By, ...] = ("dense", "sparse", "hybrid")


@dataclass(frozen=True, slots=True)
class Result:
    """One variant, searched in one way."""

    name: str
    by: By
    chunks: int
    median_tokens: float
    embedded: int
    """Texts that were embedded for it; others had their vectors from variants before."""
    measures: Mapping[str, Interval]
    asked: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All variants over the same questions."""

    documents: int
    rejected: Mapping[str, str]
    results: tuple[Result, ...]
    """By variant, then by what is searched by."""
    halves: tuple[Halves, ...]
    """Of each variant with sparse vectors; none where there are too few questions."""


@dataclass(frozen=True, slots=True)
class _Asking:
    """A variant with all that its questions need."""

    variant: Variant
    index: Index
    questions: Sequence[Question]
    answers: Sequence[Answers]
    scores: Sequence[Scores]
    words: Words
    config: EvaluationConfig
    embedded: int

    @property
    def ways(self) -> tuple[By, ...]:
        """What it can be searched by."""
        return _ALL if self.index.encoder else ("dense",)

    def ask(self, number: int, by: By, fusion: Fusion | None = None) -> Asked:
        """One of the questions, asked in one way; without a fusion, as the variant's job says."""
        fusion = fusion or self.variant.job.search.as_fusion()
        ranked = [self.index.pieces[place] for place in self.scores[number].ranking(by, fusion)]
        return ask(self.questions[number], self.answers[number], ranked, self.words, self.config)


def evaluate(config: EvaluationConfig, variants: Sequence[Variant]) -> Evaluation:
    """Read the corpus, and ask each variant all questions.

    Raises:
        ConfigError: the questions cannot be read or do not fit the corpus.
    """
    questions = questions_of(config.questions)
    corpora: dict[str, Corpus] = {}
    vectors = Vectors()
    results: list[Result] = []
    halves: list[Halves] = []
    for variant in variants:
        key = repr([(source.name, source.root, source.extract) for source in variant.job.sources])
        if key not in corpora:
            corpora[key] = read_corpus(variant.job)
        asking = _asking(variant, corpora[key], questions, config, vectors)
        results += [_result(asking, by) for by in asking.ways]
        if asking.index.encoder:
            found = chosen_on_one_half(
                variant.name, variant.job.search.as_fusion(), questions, asking.ask, config.samples
            )
            halves += [found] if found else []
    first = next(iter(corpora.values()))
    return Evaluation(len(first.entries), first.rejected, tuple(results), tuple(halves))


def _asking(
    variant: Variant,
    corpus: Corpus,
    questions: Sequence[Question],
    config: EvaluationConfig,
    vectors: Vectors,
) -> _Asking:
    answers = find_answers(questions, [entry.text for entry in corpus.entries], str(config.questions))
    before = vectors.embedded
    index = build_index(corpus, variant.job, vectors)
    if not index.pieces:
        raise ParquetryError(
            f"The corpus of {config.job} has no chunk to find: see what root and include of its sources let pass."
        )
    texts = [question.question for question in questions]
    asked = zip(texts, embed_questions(variant.job, texts), strict=True)
    scores = [index.scores(text, vector) for text, vector in asked]
    embedded = vectors.embedded - before
    return _Asking(variant, index, questions, answers, scores, Words(corpus), config, embedded)


def _result(asking: _Asking, by: By) -> Result:
    asked = tuple(asking.ask(number, by) for number in range(len(asking.questions)))
    return Result(
        name=asking.variant.name,
        by=by,
        chunks=len(asking.index.pieces),
        median_tokens=statistics.median(piece.tokens for piece in asking.index.pieces),
        embedded=asking.embedded,
        measures=summary([one.measures for one in asked], asking.config.samples),
        asked=asked,
    )

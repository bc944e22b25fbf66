"""Cut, embed and analyse the corpus as one variant does, and rank its chunks for every question as search does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from transforms.chunkers.chunk import chunk_document
from transforms.chunkers.vocabulary import with_vocabulary
from transforms.embedders.batching import embed_distinct
from transforms.embedders.registry import make_embedder, vector_recipe
from transforms.embedders.vectors import at_length_one
from transforms.model.fusion import DEFAULT
from transforms.model.ids import plain_id
from transforms.retrieval.fusion import Bounds, fused, ranks_of
from transforms.retrieval.question import asked, terms_of
from transforms.sparse.columns import INDICES, VALUES, to_columns
from transforms.sparse.registry import make_sparse
from transforms.sparse.statistics import NO_TERMS as NO_STATISTICS
from transforms.sparse.statistics import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from pipeline.config import JobConfig
    from pipeline.evaluate.corpus import Corpus
    from transforms.embedders.protocol import Embedder
    from transforms.model.fusion import Fusion
    from transforms.retrieval.fusion import By
    from transforms.sparse.protocol import SparseEncoder
    from transforms.sparse.statistics import TermStatistics


class Piece(NamedTuple):
    """A chunk as retrieval sees it: its document's place in the corpus, and its span there."""

    document: int
    start: int
    end: int
    tokens: int
    embed_text: str


@dataclass(frozen=True, slots=True)
class Scores:
    """How well each piece answers one question."""

    dense: NDArray[np.float64]
    """Cosines; NaN where a piece, or the question, has no vector."""
    sparse: NDArray[np.float64]
    """Sums over terms; 0 where a piece has none of them."""

    def ranking(self, by: By, fusion: Fusion = DEFAULT) -> NDArray[np.int64]:
        """The places of all pieces that are found, the best first; equal ones in the order of the corpus."""
        sparse = np.where(self.sparse > 0, self.sparse, np.nan)
        if by == "hybrid":
            ranks = ranks_of(self.dense), ranks_of(sparse)
            bounds = Bounds().over(self.dense, self.sparse)
            scores = fused(self.dense, self.sparse, ranks, bounds, fusion)
            found = np.isfinite(self.dense) | np.isfinite(sparse)
            if fusion.method == "rrf":
                found = (ranks[0] > 0) | (ranks[1] > 0)
            scores = np.where(found, scores, np.nan)
        else:
            scores = self.dense if by == "dense" else sparse
        order = np.argsort(-scores, kind="stable")
        places: NDArray[np.int64] = order[np.isfinite(scores[order])]
        return places


@dataclass(frozen=True, slots=True)
class Index:
    """The chunks of a variant with their vectors, shape ``[len(pieces), dimension]``, of length 1 or NaN."""

    pieces: tuple[Piece, ...]
    vectors: NDArray[np.float32]
    encoder: SparseEncoder | None = None
    columns: Mapping[str, pa.ListArray] = field(default_factory=dict)
    """The sparse vectors as in the table; none without an encoder."""
    statistics: TermStatistics = NO_STATISTICS

    def scores(self, question: str, vector: NDArray[np.float32]) -> Scores:
        """Of all pieces for one question, whose vector is ``vector``."""
        dense = (self.vectors @ at_length_one(vector[np.newaxis])[0]).astype(np.float64)
        if self.encoder is None:
            return Scores(dense, np.zeros(len(self.pieces)))
        terms = terms_of(question, self.encoder, self.statistics)
        return Scores(dense, terms.scores(self.columns[INDICES], self.columns[VALUES]))


class Vectors:
    """Embeds each text once a model, whichever variants it is part of."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, NDArray[np.float32]]] = {}
        self.embedded = 0
        """Texts that were embedded so far."""

    def of(self, embedder: Embedder, recipe: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text, as :func:`embed_distinct` gives them."""
        known = self._known.setdefault(recipe, {})
        new = sorted({text for text in texts if text not in known})
        if new:
            self.embedded += len(new)
            known.update(zip(new, embed_distinct(embedder, new), strict=True))
        rows: NDArray[np.float32] = np.empty((len(texts), embedder.dimension), np.float32)
        for place, text in enumerate(texts):
            rows[place] = known[text]
        return rows


def build_index(corpus: Corpus, config: JobConfig, vectors: Vectors) -> Index:
    """The corpus as this job would cut and embed it."""
    embedder = make_embedder(config.embedder)
    settings = {source.name: with_vocabulary(source.chunk_settings()) for source in config.sources}
    pieces: list[Piece] = []
    for place, entry in enumerate(corpus.entries):
        chosen = settings[entry.source]
        comparer = make_embedder(chosen.semantic.embedder) if chosen.semantic.embedder else embedder
        chunks = chunk_document(
            entry.document,
            plain_id(entry.doc_id),
            chosen,
            embedder.counter,
            embedder.max_tokens,
            comparer.embed,
        )
        pieces += [Piece(place, c.cut.start, c.cut.end, c.tokens, c.embed_text) for c in chunks]
    texts = [piece.embed_text for piece in pieces]
    found = at_length_one(vectors.of(embedder, vector_recipe(config.embedder), texts))
    encoder = make_sparse(config.sparse)
    if encoder is None:
        return Index(tuple(pieces), found)
    columns = to_columns(encoder.encode(texts))
    return Index(tuple(pieces), found, encoder, columns, counted([columns[INDICES]]))


def embed_questions(config: JobConfig, questions: Iterable[str]) -> NDArray[np.float32]:
    """One row a question, by the job's embedder: shape ``[questions, dimension]``."""
    return embed_distinct(make_embedder(config.embedder), [asked(one) for one in questions], task="query")

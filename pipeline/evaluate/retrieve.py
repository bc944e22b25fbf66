"""Cut and embed the corpus as one variant does, and rank its chunks for every question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from transforms.chunkers.chunk import chunk_document
from transforms.chunkers.vocabulary import with_vocabulary
from transforms.embedders.batching import embed_distinct
from transforms.embedders.registry import make_embedder, vector_recipe
from transforms.embedders.vectors import at_length_one
from transforms.model.document import canonical_text
from transforms.model.ids import plain_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from pipeline.config import JobConfig
    from pipeline.evaluate.corpus import Corpus
    from transforms.embedders.protocol import Embedder


class Piece(NamedTuple):
    """A chunk as retrieval sees it: its document's place in the corpus, and its span there."""

    document: int
    start: int
    end: int
    tokens: int
    embed_text: str


@dataclass(frozen=True, slots=True)
class Index:
    """The chunks of a variant with their vectors, shape ``[len(pieces), dimension]``, of length 1 or NaN."""

    pieces: tuple[Piece, ...]
    vectors: NDArray[np.float32]

    def ranking(self, question: NDArray[np.float32]) -> NDArray[np.int64]:
        """The places of all pieces that have a vector, the nearest first; equal ones in the order of the corpus."""
        scores = self.vectors @ at_length_one(question[np.newaxis])[0]
        order = np.argsort(-scores, kind="stable")
        found: NDArray[np.int64] = order[np.isfinite(scores[order])]
        return found


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
    found = vectors.of(embedder, vector_recipe(config.embedder), [piece.embed_text for piece in pieces])
    return Index(tuple(pieces), at_length_one(found))


def embed_questions(config: JobConfig, questions: Iterable[str]) -> NDArray[np.float32]:
    """One row a question, by the job's embedder: shape ``[questions, dimension]``."""
    texts = [canonical_text(question).strip() for question in questions]
    return embed_distinct(make_embedder(config.embedder), texts, task="query")

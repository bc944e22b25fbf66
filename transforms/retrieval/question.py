"""A question as rows are scored by it: its vector, and its terms with their weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from transforms.model.document import canonical_text
from transforms.sparse.protocol import NamesTerms
from transforms.sparse.score import scores

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from transforms.sparse.protocol import SparseEncoder
    from transforms.sparse.statistics import TermStatistics


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a question."""

    ids: NDArray[np.uint32]
    """Ascending, each once."""
    weights: NDArray[np.float32]
    """How much each counts: how often it is asked for, times how rare it is where the encoder weighs so."""
    words: tuple[str, ...]
    """How people know them."""

    def scores(self, indices: pa.ListArray, values: pa.ListArray) -> NDArray[np.float64]:
        """One score a row of the table's two columns: 0 where it has none of the terms."""
        return scores(indices, values, self.ids, self.weights).astype(np.float64)


NO_TERMS = Terms(np.empty(0, np.uint32), np.empty(0, np.float32), ())


def asked(question: str) -> str:
    """The question as it is embedded and analysed."""
    return canonical_text(question).strip()


def terms_of(question: str, encoder: SparseEncoder, statistics: TermStatistics | None) -> Terms:
    """The terms of a question, as the encoder of the table's rows has them.

    Args:
        question: as written.
        encoder: that of the rows.
        statistics: of the table's terms; None where the encoder does not ask for them.
    """
    found = encoder.query(asked(question))
    weights = found.values
    if encoder.weighed and statistics is not None:
        weights = weights * statistics.idf(found.indices)
    names = encoder.names(asked(question)) if isinstance(encoder, NamesTerms) else {}
    words = tuple(names.get(one, f"#{one}") for one in found.indices.tolist())
    return Terms(found.indices, weights, words)

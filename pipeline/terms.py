"""The terms of a table's chunks as people read them: by which encoder, and which terms tell a chunk from others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from pydantic import ValidationError

from transforms.model.errors import TableError
from transforms.sparse.protocol import NamesTerms
from transforms.sparse.registry import make_sparse
from transforms.sparse.settings import settings_from_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from transforms.sparse.protocol import SparseEncoder
    from transforms.sparse.statistics import TermStatistics
    from transforms.table.reader import Snapshot


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a chunk."""

    term: str
    weight: float
    """Its value in the sparse vector, times how rare it is in the table where questions are weighed so."""


def encoder_of(snapshot: Snapshot, table_root: str) -> SparseEncoder:
    """The encoder that a table's sparse vectors were made by.

    Raises:
        TableError: this program does not know it, or makes other ones.
        ParquetryError: it cannot be used here.
    """
    text, made_by = snapshot.manifest.recipe.get("sparse", ""), snapshot.manifest.sparse
    try:
        encoder = make_sparse(settings_from_json(text))
    except ValidationError as error:
        raise TableError(
            f"The sparse vectors of the table at {table_root} were made in a way that this program does not know: "
            f"{text or 'its manifest names none'}."
        ) from error
    if encoder is None or encoder.name != made_by:
        raise TableError(
            f"The sparse vectors of the table at {table_root} were made by {made_by}, and this program makes other "
            "ones: the next run of the job brings them up to date."
        )
    return encoder


def telling_terms(
    vector: Mapping[int, float],
    text: str,
    encoder: SparseEncoder,
    statistics: TermStatistics | None,
    most: int,
) -> tuple[Term, ...]:
    """The terms that a chunk is found by rather than others, the strongest first.

    Args:
        vector: the chunk's sparse vector, weights by ids.
        text: what it was made from.
        encoder: that made it.
        statistics: of the table's terms; None where the encoder does not ask for them.
        most: terms at most.
    """
    ids = np.fromiter(vector, np.uint32, len(vector))
    weights = np.fromiter(vector.values(), np.float64, len(vector))
    if encoder.weighed and statistics is not None:
        weights = weights * statistics.idf(ids)
    names = encoder.names(text) if isinstance(encoder, NamesTerms) else {}
    terms = [
        Term(names.get(one, f"#{one}"), weight)
        for one, weight in zip(ids.tolist(), weights.tolist(), strict=True)
    ]
    return tuple(sorted(terms, key=lambda one: (-one.weight, one.term))[:most])

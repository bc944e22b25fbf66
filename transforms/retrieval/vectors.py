"""The rows of a batch that have a vector of one model: others say nothing beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from transforms.model.errors import TableError

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray


def vectors_of(
    batch: pa.RecordBatch, model: str, dimension: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The places of the rows that ``model`` made a vector for, and those vectors: shape ``[places, dimension]``.

    Args:
        batch: with the columns ``embedding`` and ``embed_model``.
        model: name and version, as in the second.
        dimension: numbers of its vectors.

    Raises:
        TableError: a vector has another length.
    """
    has = pc.and_kleene(pc.equal(batch["embed_model"], model), pc.is_valid(batch["embedding"]))
    places = np.flatnonzero(has.fill_null(False).to_numpy(zero_copy_only=False))  # noqa: FBT003
    values = batch["embedding"].take(places).flatten().to_numpy()
    if len(values) != len(places) * dimension:
        raise TableError(
            f"The table has vectors of another length than the {dimension} of its model {model}."
        )
    return places, values.reshape(len(places), dimension)

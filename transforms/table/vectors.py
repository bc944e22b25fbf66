"""What a row's vector may be: null, or finite, not zero throughout, and of the table's one length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.model.errors import GuardError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check_vectors(chunks: pa.Table, dimension: int) -> None:
    """Pass chunks that a store can take: asked before they are written, of carried rows too.

    Raises:
        GuardError: naming the first chunk whose vector is none, and why.
    """
    vectors = chunks["embedding"].combine_chunks()
    has_one = np.flatnonzero(vectors.is_valid().to_numpy(zero_copy_only=False))
    lengths = pc.list_value_length(vectors).drop_null().to_numpy()
    _refuse(chunks, has_one[lengths != dimension], f"has another length than {dimension}")
    numbers = vectors.flatten().to_numpy().reshape(-1, dimension)
    _refuse(chunks, has_one[~np.isfinite(numbers).all(axis=1)], "holds numbers that are not finite")
    _refuse(chunks, has_one[~numbers.any(axis=1)], "is zero throughout")


def _refuse(chunks: pa.Table, places: NDArray[np.int64], fault: str) -> None:
    if len(places):
        ref, source = (chunks[name][int(places[0])].as_py() for name in ("chunk_ref", "source_name"))
        raise GuardError(
            f"Nothing was published: the vector of chunk `{ref}` of source `{source}` {fault}, as do "
            f"{len(places) - 1:,} others of its shard. Check the embedder; with another model begin a new table."
        )

"""Where the objects of a source are today, for comparison with what rows say and to put rows right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from transforms.storage.registry import open_store

if TYPE_CHECKING:
    from transforms.stages.job import SourceSpec


def uris(source: SourceSpec, names: pa.ChunkedArray) -> pa.ChunkedArray:
    """The ``doc_uri`` of each object of the source, from its name."""
    return pc.binary_join_element_wise(pa.scalar(open_store(source.root).uri("")), names, "")

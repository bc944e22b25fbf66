"""Load into FAISS: a folder with an index file and the rows that belong to its keys.

Without an index vectors are compared one by one (``IndexFlat``); ``hnsw`` is ``IndexHNSWFlat``, which cannot remove:
it is built anew of the vectors that stay. For ``cosine`` vectors of length 1 are stored and compared by inner product.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import faiss
import numpy as np

from transforms.loaders.index_files import IndexFiles

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from transforms.loaders.address import Address
    from transforms.loaders.protocol import Metric, Target


def connect(address: Address) -> IndexFiles:
    """The folder of ``faiss:FOLDER``, made where there is none.

    Raises:
        ConfigError: the folder that it is to be in is not there.
    """
    return IndexFiles(address, _Faiss())


class _Faiss:
    name = "FAISS"
    suffix = "faiss"
    metrics: frozenset[Metric] = frozenset({"cosine", "dot", "l2"})
    errors = (RuntimeError,)

    def new(self, target: Target) -> _Index:
        return _Index(target, _empty(target))

    def load(self, path: Path, target: Target) -> _Index:
        return _Index(target, faiss.read_index(str(path)))


class _Index:
    def __init__(self, target: Target, index: Any) -> None:
        self._target = target
        self._index = index

    def add(self, keys: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        if self._target.metric == "cosine":
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            vectors = vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
        self._index.add_with_ids(np.ascontiguousarray(vectors), keys)

    def remove(self, keys: NDArray[np.int64]) -> None:
        if self._target.index.kind != "hnsw":
            self._index.remove_ids(keys)
            return
        old = faiss.vector_to_array(self._index.id_map)
        stay = ~np.isin(old, keys)
        vectors = self._index.index.reconstruct_n(0, len(old))
        self._index = _empty(self._target)
        self._index.add_with_ids(vectors[stay], old[stay])

    def save(self, path: Path) -> None:
        faiss.write_index(self._index, str(path))

    def __len__(self) -> int:
        return int(self._index.ntotal)


def _empty(target: Target) -> Any:
    metric = faiss.METRIC_L2 if target.metric == "l2" else faiss.METRIC_INNER_PRODUCT
    if target.index.kind != "hnsw":
        return faiss.IndexIDMap(faiss.IndexFlat(target.dimension, metric))
    graph = faiss.IndexHNSWFlat(target.dimension, target.index.m, metric)
    graph.hnsw.efConstruction = target.index.ef_construction
    return faiss.IndexIDMap(graph)

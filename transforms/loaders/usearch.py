"""Load into USearch: a folder with an index file, always HNSW, and the rows that belong to its keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from usearch.index import Index

from transforms.loaders.index_files import IndexFiles

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from transforms.loaders.address import Address
    from transforms.loaders.protocol import Metric, Target

_METRICS: dict[Metric, str] = {"cosine": "cos", "dot": "ip", "l2": "l2sq"}


def connect(address: Address) -> IndexFiles:
    """The folder of ``usearch:FOLDER``, made where there is none.

    Raises:
        ConfigError: the folder that it is to be in is not there.
    """
    return IndexFiles(address, _Usearch())


class _Usearch:
    name = "USearch"
    suffix = "usearch"
    metrics = frozenset(_METRICS)
    errors = (RuntimeError, ValueError)

    def new(self, target: Target) -> _Index:
        return _Index(
            Index(
                ndim=target.dimension,
                metric=_METRICS[target.metric],
                dtype="f32",
                connectivity=target.index.m,
                expansion_add=target.index.ef_construction,
            )
        )

    def load(self, path: Path, target: Target) -> _Index:
        made = self.new(target)
        made.index.load(str(path))
        return made


class _Index:
    def __init__(self, index: Any) -> None:
        self.index = index

    def add(self, keys: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        self.index.add(keys, vectors)

    def remove(self, keys: NDArray[np.int64]) -> None:
        self.index.remove(keys)

    def save(self, path: Path) -> None:
        self.index.save(str(path))

    def __len__(self) -> int:
        return len(self.index)

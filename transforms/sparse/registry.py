"""Which module stands behind each kind of sparse encoder; each is built once a process, when first asked for.

A module of an encoder has three functions: ``build(settings, share) -> SparseEncoder``, ``name(settings) -> str`` and
``recipe(settings) -> str``. Only the module asked for is imported.
"""

from __future__ import annotations

import importlib
import threading
from typing import TYPE_CHECKING, Protocol, cast

from transforms.embedders.share import ALONE, Share

if TYPE_CHECKING:
    from transforms.sparse.protocol import SparseEncoder
    from transforms.sparse.settings import SparseSettings

_MODULES = {"bm25": "transforms.sparse.bm25", "splade": "transforms.sparse.splade"}

_built: dict[tuple[SparseSettings, Share], SparseEncoder] = {}
_building = threading.Lock()


def make_sparse(settings: SparseSettings, share: Share = ALONE) -> SparseEncoder | None:
    """The encoder of these settings, None where they want none; threads that ask at once get the same one.

    Args:
        settings: which one.
        share: what this process may take of the machine's cores.

    Raises:
        ParquetryError: the encoder cannot be used here; the message says what is missing.
    """
    if settings.kind == "none":
        return None
    with _building:
        key = (settings, share)
        if key not in _built:
            _built[key] = _module(settings).build(settings, share)
        return _built[key]


def sparse_name(settings: SparseSettings) -> str | None:
    """The name of the encoder, which is not built for it; None where there is none."""
    return None if settings.kind == "none" else _module(settings).name(settings)


def sparse_recipe(settings: SparseSettings) -> str:
    """Everything that decides a sparse vector; "" where there are none.

    Two settings with the same recipe give the same vectors.
    """
    return "" if settings.kind == "none" else _module(settings).recipe(settings)


class _Module(Protocol):
    def build(self, settings: SparseSettings, share: Share) -> SparseEncoder: ...

    def name(self, settings: SparseSettings) -> str: ...

    def recipe(self, settings: SparseSettings) -> str: ...


def _module(settings: SparseSettings) -> _Module:
    return cast("_Module", importlib.import_module(_MODULES[settings.kind]))

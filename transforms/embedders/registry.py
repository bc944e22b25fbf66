"""Which module stands behind each kind of embedder; each is built once a process, when first asked for.

A module of an embedder has two functions: ``build(settings, share) -> Embedder`` and
``recipe(settings) -> str``. Only the module asked for is imported. ``build`` of a kind that is as fast and as
cheap whatever else runs has no ``share``.
"""

from __future__ import annotations

import atexit
import importlib
import threading
from typing import TYPE_CHECKING, Protocol, cast

from transforms.embedders.protocol import HoldsConnections
from transforms.embedders.share import ALONE, Share

if TYPE_CHECKING:
    from transforms.embedders.protocol import Embedder
    from transforms.embedders.settings import EmbedderSettings

_MODULES = {
    "static": "transforms.embedders.static",
    "minilm": "transforms.embedders.minilm",
    "onnx": "transforms.embedders.onnx",
    "sentence-transformers": "transforms.embedders.sentence_transformers",
    "openai": "transforms.embedders.openai",
    "vertex": "transforms.embedders.vertex",
    "bedrock": "transforms.embedders.bedrock",
    "beam": "transforms.embedders.beam",
    "hash": "transforms.embedders.hashed",
}

_WITHOUT_SHARE = frozenset({"static", "hash", "sentence-transformers", "beam"})

_built: dict[tuple[EmbedderSettings, Share], Embedder] = {}
_building = threading.RLock()  # an embedder may be made of another


def make_embedder(settings: EmbedderSettings, share: Share = ALONE) -> Embedder:
    """The embedder of these settings; threads that ask at once get the same one.

    Args:
        settings: which one.
        share: what this process may take of the job's cores, quotas and budget.

    Raises:
        ParquetryError: the embedder cannot be used here; the message says what is missing.
    """
    alone = settings.kind in _WITHOUT_SHARE
    key = (settings, ALONE if alone else share)
    with _building:
        if key not in _built:
            if not _built:
                # Connections that nobody closes are complained of when the process ends.
                atexit.register(close_embedders)
            build = _module(settings).build
            _built[key] = build(settings) if alone else build(settings, share)
        return _built[key]


def close_embedders() -> None:
    """Give back what the embedders of this process hold: connections, models. The next one is built anew."""
    with _building:
        for embedder in _built.values():
            if isinstance(embedder, HoldsConnections):
                embedder.close()
        _built.clear()


def recipe(settings: EmbedderSettings) -> str:
    """What decides the columns of vectors: :func:`vector_recipe`, and the forms that are stored besides."""
    stored = f" stored:{','.join(sorted(settings.also_store))}" if settings.also_store else ""
    return vector_recipe(settings) + stored


def vector_recipe(settings: EmbedderSettings) -> str:
    """Everything that decides a vector: model, version, hashes of its files, task, dimension.

    Two settings with the same recipe give the same vectors; how fast or where is no part of it.
    """
    return _module(settings).recipe(settings)


class _Module(Protocol):
    def build(self, settings: EmbedderSettings, share: Share = ...) -> Embedder: ...

    def recipe(self, settings: EmbedderSettings) -> str: ...


def _module(settings: EmbedderSettings) -> _Module:
    return cast("_Module", importlib.import_module(_MODULES[settings.kind]))

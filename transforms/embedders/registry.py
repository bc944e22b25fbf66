"""Which module stands behind each kind of embedder; each is built once a process, when first asked for.

A module of an embedder has two functions: ``build(settings) -> Embedder`` and
``recipe(settings) -> str``. Only the module asked for is imported.
"""

from __future__ import annotations

import importlib
import threading
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from transforms.embedders.protocol import Embedder
    from transforms.embedders.settings import EmbedderSettings

_MODULES = {
    "static": "transforms.embedders.static",
    "minilm": "transforms.embedders.minilm",
    "onnx": "transforms.embedders.onnx",
    "openai": "transforms.embedders.openai",
    "hash": "transforms.embedders.hashed",
}

_built: dict[EmbedderSettings, Embedder] = {}
_building = threading.Lock()


def make_embedder(settings: EmbedderSettings) -> Embedder:
    """The embedder of these settings; threads that ask at once get the same one.

    Raises:
        ParquetryError: the embedder cannot be used here; the message says what is missing.
    """
    with _building:
        if settings not in _built:
            _built[settings] = _module(settings).build(settings)
        return _built[settings]


def recipe(settings: EmbedderSettings) -> str:
    """Everything that decides a vector: model, version, hashes of its files, task and dimension.

    Two settings with the same recipe give the same vectors; how fast or where is no part of it.
    """
    return _module(settings).recipe(settings)


class _Module(Protocol):
    def build(self, settings: EmbedderSettings) -> Embedder: ...

    def recipe(self, settings: EmbedderSettings) -> str: ...


def _module(settings: EmbedderSettings) -> _Module:
    return cast("_Module", importlib.import_module(_MODULES[settings.kind]))

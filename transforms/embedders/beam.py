"""Apache Beam's own ways to embed, plugged in: an ``EmbeddingsManager`` or a ``ModelHandler``.

Beam is not imported here. What is plugged in brings it, and is known by the methods that it has.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from transforms.embedders.local import LocalEmbedder
from transforms.embedders.tokenizer_file import tokenizer_file, tokens_of
from transforms.model.errors import ConfigError, ParquetryError
from transforms.model.ids import fingerprint, sha256_hex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from transforms.embedders.settings import BeamSettings


def build(settings: BeamSettings) -> LocalEmbedder:
    """Load the handler's model.

    Raises:
        ConfigError: there is no such handler, or it is none.
    """
    handler, arguments = handler_of(settings.handler)
    model = handler.load_model()

    def run(texts: Sequence[str]) -> NDArray[np.float32]:
        answers = list(handler.run_inference(list(texts), model, arguments))
        if len(answers) != len(texts):
            raise ParquetryError(
                f"The handler {settings.handler} gave {len(answers)} vectors for {len(texts)} texts."
            )
        return np.stack([vector_of(answer) for answer in answers])

    return LocalEmbedder(
        settings,
        name=f"{settings.model}@{fingerprint(recipe(settings))[:8]}",
        run=run,
        length=settings.dimension,
        counter=tokens_of(settings.tokenizer, settings.model),
        max_tokens=settings.max_tokens,
    )


def recipe(settings: BeamSettings) -> str:
    """As all recipes; what stands behind ``model`` is its owner's to say."""
    return (
        f"beam {settings.model} dimension:{settings.dimension} max_tokens:{settings.max_tokens} "
        f"too_long:{settings.too_long} normalise:{settings.normalise} "
        f"tokenizer:{sha256_hex(tokenizer_file(settings.tokenizer) or b'')[:16]} "
        f"task:prefix {settings.document_prefix!r} {settings.query_prefix!r}"
    )


def handler_of(name: str) -> tuple[Any, dict[str, Any] | None]:
    """The model handler that ``module:name`` leads to, through a manager or a function if need be.

    With it come the arguments for inference that a manager has for it.

    Raises:
        ConfigError: it leads nowhere, or to something else.
    """
    module, _, attributes = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for attribute in attributes.split("."):
            found = getattr(found, attribute)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"The embedder's handler {name} cannot be imported: {error}") from error
    if callable(found) and not _is_one(found):
        found = found()
    if not _is_one(found):
        raise ConfigError(
            f"{name} is no EmbeddingsManager and no ModelHandler of Beam, and does not make one: "
            f"it is a {type(found).__name__}."
        )
    if hasattr(found, "get_model_handler"):
        return found.get_model_handler(), getattr(found, "inference_args", None)
    return found, None


def _is_one(found: Any) -> bool:
    is_handler = hasattr(found, "load_model") and hasattr(found, "run_inference")
    return not isinstance(found, type) and (is_handler or hasattr(found, "get_model_handler"))


def vector_of(answer: Any) -> NDArray[np.float32]:
    """The vector in what a handler yields: bare, in a ``PredictionResult``, or in an ``Embedding``."""
    value = getattr(answer, "inference", answer)
    value = getattr(value, "dense_embedding", value)
    return np.asarray(value, dtype=np.float32)

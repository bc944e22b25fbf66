"""Models of the library sentence-transformers, for workers with a GPU: batches pay there."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from transforms.embedders.local import LocalEmbedder
from transforms.model.errors import ConfigError, ParquetryError
from transforms.model.ids import fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from transforms.embedders.settings import SentenceTransformersSettings

_LOG = logging.getLogger(__name__)


def build(settings: SentenceTransformersSettings) -> LocalEmbedder:
    """Load the model, from the Hub's cache or a folder.

    Raises:
        ConfigError: the library is not installed.
        ParquetryError: the model cannot be loaded, or has shorter vectors than configured.
    """
    model = _load(settings)
    length = int(model.get_sentence_embedding_dimension())
    if settings.dimension is not None and settings.dimension > length:
        raise ConfigError(
            f"The vectors of {settings.model} have {length} numbers; dimension = {settings.dimension} is more."
        )
    counter = ModelCounter(settings.model, model.tokenizer)

    def run(texts: Sequence[str]) -> NDArray[np.float32]:
        return np.asarray(
            model.encode(
                list(texts),
                batch_size=settings.batch_items,
                show_progress_bar=False,
                convert_to_numpy=True,
                normalize_embeddings=False,
            ),
            dtype=np.float32,
        )

    return LocalEmbedder(
        settings,
        name=f"{settings.model.rstrip('/').rsplit('/', 1)[-1]}@{fingerprint(recipe(settings))[:8]}",
        run=run,
        length=length,
        counter=counter,
        max_tokens=counter.room(getattr(model, "max_seq_length", None)),
    )


def recipe(settings: SentenceTransformersSettings) -> str:
    """As all recipes; a GPU's last bits are none of it."""
    return (
        f"sentence-transformers {settings.model} revision:{settings.revision} "
        f"dimension:{settings.dimension} normalise:{settings.normalise} too_long:{settings.too_long} "
        f"task:prefix {settings.document_prefix!r} {settings.query_prefix!r}"
    )


class ModelCounter:
    """Counts with the model's own (Hugging Face) tokenizer, special tokens left out."""

    def __init__(self, model: str, tokenizer: Any) -> None:
        self.name = model
        self._tokenizer = tokenizer

    def count(self, texts: Sequence[str]) -> list[int]:
        if not texts:
            return []
        found = self._tokenizer(list(texts), add_special_tokens=False, truncation=False)
        return [len(ids) for ids in found["input_ids"]]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        found = self._tokenizer(
            text, add_special_tokens=False, truncation=False, return_offsets_mapping=True
        )
        return [(int(start), int(end)) for start, end in found["offset_mapping"]]

    def room(self, window: int | None) -> int | None:
        """Tokens of a text that fit into a window beside the special ones."""
        if window is None:
            return None
        special = len(self._tokenizer("a")["input_ids"]) - self.count(["a"])[0]
        return int(window) - special


def _load(settings: SentenceTransformersSettings) -> Any:
    try:
        import sentence_transformers
    except ImportError as error:
        raise ConfigError(
            "The embedder `sentence-transformers` needs that library, which is not installed: "
            "pip install 'parquetry[sentence-transformers]'."
        ) from error
    try:
        model = sentence_transformers.SentenceTransformer(
            settings.model, device=settings.device, revision=settings.revision
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise ParquetryError(f"The model {settings.model} cannot be loaded: {error}") from error
    if settings.revision is None:
        _LOG.warning(
            "The model %s has no `revision`: a later run may embed with another one unseen.", settings.model
        )
    return model

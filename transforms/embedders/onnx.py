"""Sentence-transformers models on ONNX Runtime: the pooled last hidden state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from transforms.embedders.share import ALONE, Share
from transforms.embedders.transformer import Transformer, for_each, open_session, read_files, sha256_of
from transforms.embedders.wordpieces import TokenizerCounter, load_tokenizer
from transforms.model.errors import ParquetryError
from transforms.model.ids import fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from transforms.embedders.protocol import Task
    from transforms.embedders.settings import OnnxSettings, TooLong


def build(settings: OnnxSettings, share: Share = ALONE) -> OnnxEmbedder:
    """Load the model of a folder.

    Raises:
        ParquetryError: ONNX Runtime is not installed, a file is missing, or the model is of another kind.
    """
    files = read_files(settings.model_path)
    return OnnxEmbedder(
        name=f"{files.name}@{fingerprint(recipe(settings))[:12]}",
        counter_name=f"{files.name}-{sha256_of(files.tokenizer)[:8]}",
        tokenizer=load_tokenizer(files.tokenizer),
        session=open_session(files.model),
        max_tokens=settings.max_tokens,
        threads=settings.threads or share.cores,
        dimension=settings.dimension,
        pooling=settings.pooling,
        prefixes={"document": settings.document_prefix, "query": settings.query_prefix},
    )


def recipe(settings: OnnxSettings) -> str:
    """As all recipes; the model's name has its fingerprint, so that no two ways of pooling share one."""
    return (
        f"{read_files(settings.model_path).recipe} "
        f"pooling:{settings.pooling} max_tokens:{settings.max_tokens} dimension:{settings.dimension} "
        f"task:prefix {settings.document_prefix!r} {settings.query_prefix!r}"
    )


class OnnxEmbedder:
    """The pooled last hidden state of a transformer, at length 1.

    A text longer than the model's input gets the mean of its parts, weighted by their tokens: none of
    it is cut off. Chunks never are; questions and whole paragraphs may be.
    """

    batch_items = 64
    too_long: TooLong = "split"

    def __init__(
        self,
        *,
        name: str,
        counter_name: str,
        tokenizer: Tokenizer,
        session: Any,
        max_tokens: int,
        threads: int,
        dimension: int | None = None,
        pooling: str = "mean",
        prefixes: dict[str, str] | None = None,
    ) -> None:
        self.name = name
        self._model = Transformer(
            tokenizer, session, max_tokens, "sentence-transformers", "the last hidden state"
        )
        self.dimension = _shortened(self._model.width, dimension)
        self._threads = threads
        self.counter = TokenizerCounter(counter_name, tokenizer)
        self._pooling = pooling
        self._prefixes = prefixes or {}
        self._unknown = tokenizer.token_to_id("[UNK]")
        prefixed = max(self.counter.count([*self._prefixes.values(), ""]))
        self.max_tokens = self._model.window - prefixed
        if self.max_tokens < 1:
            raise ParquetryError(f"max_tokens = {max_tokens} of {name} leaves no room for any text")

    def embed(self, texts: Sequence[str], task: Task = "document") -> NDArray[np.float32]:
        vectors = np.full((len(texts), self.dimension), np.nan, dtype=np.float32)
        prefix = self._prefixes.get(task, "")

        def fill(row: int) -> None:
            ids = self._model.ids(texts[row])
            if any(number != self._unknown for number in ids):
                vectors[row] = self._vector(self._model.ids(prefix + texts[row]) if prefix else ids)

        for_each(texts, self._threads, fill)
        return vectors

    def _vector(self, ids: list[int]) -> NDArray[np.float64]:
        parts = self._model.parts(ids)
        if len(parts) == 1:
            whole = self._part(parts[0])
        else:
            whole = _at_length_one(np.add.reduce([self._part(part) * len(part) for part in parts]))
        return whole if len(whole) == self.dimension else _at_length_one(whole[: self.dimension])

    def _part(self, ids: list[int]) -> NDArray[np.float64]:
        states = self._model.run(ids).astype(np.float64)
        return _at_length_one(states[0] if self._pooling == "first" else np.add.reduce(states))


def _at_length_one(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    length = float(np.sqrt(np.add.reduce(vector * vector)))
    return vector / length if length else np.full_like(vector, np.nan)


def _shortened(dimension: int, wanted: int | None) -> int:
    if wanted is not None and wanted > dimension:
        raise ParquetryError(f"The model's vectors have {dimension} numbers; dimension = {wanted} is more.")
    return wanted or dimension
